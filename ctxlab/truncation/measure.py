"""How large a text is, in characters or tokens, and the largest cut that stays within a limit.

>>> size("two words", "chars"), size("two words", "tokens"), exceeds("two words", 1, "tokens")
(9, 2, True)

Tokens are o200k tokens. They do not add up: two texts joined may have fewer tokens than apart, or
more. So a cut is counted as the whole text that it makes, and the largest is searched for.
"""

from __future__ import annotations

from collections.abc import Callable

from ctxlab import tokens
from ctxlab.errors import UsageError
from ctxlab.truncation.pieces import Cut

UNITS = ("chars", "tokens")
# UTF-8 takes up to four bytes a character, and a token holds at least one.
_TOKENS_PER_CHAR = 4
_SEARCHED_BACK = 10_000
_STEPS = 64
_BISECTED_AFTER = 12


def checked_limit(limit: object, what: str = "limit") -> int:
    """The limit, if it is a whole number above zero.

    Raises:
        UsageError: it is not.
    """
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    raise UsageError(f"{what} must be a whole number of at least 1, not {limit!r}")


def checked_unit(unit: str) -> str:
    """The unit, if there is such a one.

    Raises:
        UsageError: there is not.
    """
    if unit in UNITS:
        return unit
    raise UsageError(f"unit must be one of {', '.join(UNITS)}, not {unit!r}")


def size(text: str, unit: str) -> int:
    """Characters or o200k tokens of a text."""
    return len(text) if unit == "chars" else tokens.count(text)


def exceeds(text: str, limit: int, unit: str) -> bool:
    """Whether a text is larger than a limit; a long text is not counted to its end."""
    if unit == "chars":
        return len(text) > limit
    if _TOKENS_PER_CHAR * len(text) <= limit:
        return False
    reach = 8 * limit
    while reach < len(text):
        cut = _surely_split(text, reach)
        if cut and tokens.count(text[:cut]) > limit:
            return True
        reach *= 4
    return tokens.count(text) > limit


def _surely_split(text: str, before: int) -> int:
    """A place at or before `before` where the tokeniser splits whatever follows, or 0.

    A letter or digit ends its piece before a space or a punctuation mark (an apostrophe may go
    with it), so that the tokens before this place and behind it add up.
    """
    for at in range(before, max(before - _SEARCHED_BACK, 0), -1):
        last, following = text[at - 1], text[at]
        ends = last.isalpha() or (last.isascii() and last.isdigit())
        if ends and following in ' \n,.;:"()[]{}<>=、。':
            return at
    return 0


def largest(
    cut_at: Callable[[int], Cut | None],
    measure: Callable[[Cut | None], int],
    limit: int,
    top: int,
    guess: int,
) -> Cut | None:
    """The cut that keeps most while its measure is within the limit; None when none is.

    `cut_at` gives the cut for a room of characters, at most `top`; None where nothing fits it.
    `measure` gives the size of all that would be returned, for None of what is returned without
    any text. The search interpolates and needs four or five measurements. A measure may fall as
    the cut grows, by a token or two: then a larger cut may be missed, but none is over the limit.
    """
    base, best = measure(None), None
    low, high, room = 0, top + 1, guess
    for step in range(_STEPS):
        if high - low <= 1:
            break
        room = min(max(room, low + 1), high - 1) if step < _BISECTED_AFTER else (low + high) // 2
        cut = cut_at(room)
        measured, used = measure(cut), cut.used if cut else 0
        if measured > limit:
            high = min(room, max(used, low + 1))
        elif cut is None:
            low = room
        else:
            low = max(room, cut.more - 1)
            best = cut if best is None or used >= best.used else best
        slope = (measured - base) / used if used else 0.0
        room = used + int((limit - measured) / slope) if slope > 0 else 2 * room
    return best
