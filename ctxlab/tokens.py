"""Local token counts: tiktoken, offline, special-token text counted as text.

>>> count("tiktoken is great!")
6

Claude's tokenizer is not public: for Claude models these are estimates, and everything that
shows them says `o200k estimate` (source: facts `prompt-cache` §5).

The vocabularies come from `data/cache/tiktoken`, which `make data` fills; nothing here goes to
the network. tiktoken deletes a vocabulary file with a wrong hash and downloads it anew, so the
hash is checked before tiktoken sees the file. Not handled here: the overhead that an API adds
around messages and tools, and images.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ctxlab import project
from ctxlab.errors import DataError, UsageError

if TYPE_CHECKING:
    import tiktoken

DEFAULT_ENCODING = "o200k_base"


class Vocabulary(NamedTuple):
    """A vocabulary as tiktoken caches it: the file's name is the SHA-1 of its address."""

    file: str
    sha256: str


VOCABULARIES = {
    "o200k_base": Vocabulary(
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
    "cl100k_base": Vocabulary(
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
}

# tiktoken's splitter recurses once for each character of a run of white space and overflows its
# stack near a million: such runs are cut out, at exactly the places where the splitter would.
_SAFE_RUN = 100_000
_SPACE = r"\t-\r\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


def count(text: str, encoding: str = DEFAULT_ENCODING) -> int:
    """Tokens of `text`.

    Raises:
        UsageError: an encoding that is not one of VOCABULARIES.
        DataError: its vocabulary is not in data/cache, or not what it should be.
    """
    encoder = _encoder(encoding)
    if len(text) < _SAFE_RUN:
        return len(encoder.encode_ordinary(text))
    return sum(len(_encode_part(encoder, *part)) for part in _parts(text, encoder))


def count_many(texts: Iterable[str], encoding: str = DEFAULT_ENCODING) -> list[int]:
    """Tokens of each text, in order.

    >>> count_many(["one", "", "two words"])
    [1, 0, 2]
    """
    return [count(text, encoding) for text in texts]


def encode(text: str, encoding: str = DEFAULT_ENCODING) -> list[int]:
    """Token ids of `text`: `len(encode(text)) == count(text)`, and `decode_bytes` gives it back."""
    encoder = _encoder(encoding)
    if len(text) < _SAFE_RUN:
        return encoder.encode_ordinary(text)
    return [token for part in _parts(text, encoder) for token in _encode_part(encoder, *part)]


def decode_bytes(tokens: list[int], encoding: str = DEFAULT_ENCODING) -> bytes:
    """The bytes of token ids; a token may end inside a UTF-8 sequence."""
    return _encoder(encoding).decode_bytes(tokens)


def _encode_part(encoder: tiktoken.Encoding, part: str, whole: bool) -> list[int]:  # noqa: FBT001
    # A whole piece needs no splitting: it goes to the merges at once.
    return encoder._encode_single_piece(part) if whole else encoder.encode_ordinary(part)  # noqa: SLF001


def _parts(
    text: str, encoder: tiktoken.Encoding, safe_run: int = _SAFE_RUN
) -> Iterator[tuple[str, bool]]:
    """`text` in parts that tokenise on their own as they do together; True marks a whole piece.

    The splitter treats a run of white space so: line ends right behind punctuation belong to the
    punctuation; what reaches to the run's last line end is one piece; the rest is one piece, less
    its last character when more text follows, which goes with that text. cl100k_base takes a run
    at the very end of the text whole.
    """
    pattern, start = encoder._pat_str, 0  # noqa: SLF001
    for run in re.finditer(rf"[{_SPACE}]{{{safe_run},}}", text):
        body, end = _line_ends_taken(text, start, run.start(), pattern), run.end()
        if body == end:  # all of it is the punctuation's, and what follows may be too
            continue
        yield text[start:body], False
        at_end = end == len(text)
        lines_end = body + len(re.sub(r"[^\r\n]*\Z", "", text[body:end]))
        if at_end and encoder.name == "cl100k_base":
            lines_end = end
        rest_end = end if at_end else max(lines_end, end - 1)
        pieces = (text[body:lines_end], text[lines_end:rest_end])
        yield from ((piece, True) for piece in pieces if piece)
        start = rest_end
    yield text[start:], False


def _line_ends_taken(text: str, start: int, run_start: int, pattern: str) -> int:
    """Where the run really begins: line ends right behind punctuation belong to the punctuation."""
    import regex  # noqa: PLC0415  the splitter's pattern needs \p{…}; only long runs come here

    before = re.search(rf"[{_SPACE}]?[^{_SPACE}]*\Z", text[start:run_start])
    last = regex.findall(pattern, f"{before[0] if before else ''}\n")[-1]
    line_ends = re.compile(r"[\r\n]*").match(text, run_start)
    return run_start if last == "\n" or line_ends is None else line_ends.end()


@lru_cache(maxsize=4)
def _encoder(encoding: str) -> tiktoken.Encoding:
    import tiktoken  # noqa: PLC0415  0.1 s that a command without counts should not pay

    vocabulary = VOCABULARIES.get(encoding)
    if vocabulary is None:
        raise UsageError(f"no encoding {encoding!r}; there are {', '.join(VOCABULARIES)}")
    folder = project.cache_dir() / "tiktoken"
    _verify(folder / vocabulary.file, vocabulary, encoding)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return tiktoken.get_encoding(encoding)


def _verify(path: Path, vocabulary: Vocabulary, encoding: str) -> None:
    if not path.is_file():
        raise DataError(f"the vocabulary {encoding} is not in {path.parent}; run `make data`")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != vocabulary.sha256:
        raise DataError(
            f"{path}: the vocabulary {encoding} has sha256 {found}, expected {vocabulary.sha256}; "
            "delete it and run `make data`"
        )
