import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab import errors, tokens

ALPHABET = "aZ \t\n\r\u00a0!/1漢\u0301é\u2028's_²\x1c😀\u200d"


def test_known_counts():
    assert tokens.count("tiktoken is great!") == 6
    assert tokens.count("tiktoken is great!", "cl100k_base") == 6
    assert tokens.count_many(["one", "", "two words"]) == [1, 0, 2]


def test_special_token_text_counts_as_text():
    assert tokens.count("<|endoftext|>") > 1


@pytest.mark.parametrize("encoding", tokens.VOCABULARIES)
@given(st.text(ALPHABET, max_size=20))
def test_cut_runs_tokenise_as_the_whole_does(encoding, text):
    encoder = tokens._encoder(encoding)
    parts = tokens._parts(text, encoder, safe_run=2)
    got = [token for part in parts for token in tokens._encode_part(encoder, *part)]
    assert got == encoder.encode_ordinary(text)


@pytest.mark.parametrize(
    ("character", "run"), [(" ", 128), ("\n", 16), ("\t", 16), ("a", 8), ("漢", 1), ("-", 64)]
)
def test_a_million_of_one_character_counts(character, run):
    assert tokens.count(character * 1_000_000) == -(-1_000_000 // run)


def test_encode_and_decode_give_the_text_back_beyond_the_safe_run():
    text = "x!" + "\n" * 150_000 + " " * 120_000 + "é漢"
    ids = tokens.encode(text)
    assert tokens.decode_bytes(ids) == text.encode()
    assert len(ids) == tokens.count(text)


def test_lone_surrogates_count_instead_of_raising():
    assert tokens.count("\ud800") > 0


def test_an_unknown_encoding_names_those_there_are():
    with pytest.raises(errors.UsageError, match="no encoding 'p50k'; there are o200k_base"):
        tokens.count("x", "p50k")


@pytest.mark.parametrize("content", [None, b"not the vocabulary"])
def test_a_missing_or_wrong_vocabulary_is_an_error_and_stays_where_it_is(
    tmp_path, monkeypatch, content
):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path))
    path = tmp_path / "data/cache/tiktoken" / tokens.VOCABULARIES["o200k_base"].file
    path.parent.mkdir(parents=True)
    if content:
        path.write_bytes(content)
    tokens._encoder.cache_clear()
    with pytest.raises(errors.DataError, match="make data"):
        tokens.count("x")
    assert path.exists() == bool(content)
    tokens._encoder.cache_clear()
