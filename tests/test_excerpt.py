from hypothesis import given
from hypothesis import strategies as st

from ctxlab.excerpt import differing

MODELS = ["claude-3-sonnet-20240229", "claude-sonnet-4", "claude-sonnet-4-5", "claude-opus-4-5"]


def test_a_change_at_the_end_of_a_long_value_is_shown():
    before, after = differing(str(MODELS), str([*MODELS[:-1], "claude-opus-4-6"]), 60)
    assert before.endswith("claude-opus-4-5']")
    assert after.endswith("claude-opus-4-6']")
    assert before[:-3] == after[:-3], "cut at the same place"


def test_a_change_in_the_middle_has_what_stands_around_it():
    before, after = (f"{'x' * 200} {word} {'y' * 200}" for word in ("old", "new"))
    for text, word in zip(differing(before, after, 60), ("old", "new"), strict=True):
        assert text.startswith("…x")
        assert f" {word} y" in text
        assert text.endswith("y…")


@given(st.text("ab", max_size=90), st.text("ab", max_size=40), st.text("ab", max_size=40))
def test_different_texts_give_different_excerpts_no_longer_than_the_width(head, old, new):
    found = differing(head + old, head + new, 20)
    assert max(map(len, found)) <= 20
    assert (found[0] == found[1]) == (old == new)
