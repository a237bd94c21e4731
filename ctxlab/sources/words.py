"""What pip and uv say, in words of ours: one line, and no registry's address in it.

An address may carry a password, and differs from machine to machine: messages that end in logs and
shared reports leave it out.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(
    r"""\b[a-z][a-z0-9+.-]*://[^\s'"<>`)\]]+      # any URL
      | \bhost='[^']*'(,\s*port=\d+)?             # urllib3's pools
      | (?<=connect\ to\ )[\w.-]+(:\d+)?          # "failed to connect to …"
      | \b\d{1,3}(\.\d{1,3}){3}:\d+\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNREACHED = re.compile(
    r"connection (error|refused|reset|broken|timed? ?out)|name resolution|connect error|"
    r"dns error|unreachable|not resolve|lookup address|read timed out|connecttimeout|"
    r"failed to fetch|certificate|proxyerror|newconnectionerror",
    re.IGNORECASE,
)
WHAT_TO_DO = (
    "connect this machine, or name a mirror it reaches (PIP_INDEX_URL and UV_INDEX_URL), "
    "and run `make data` again"
)


def without_addresses(text: str) -> str:
    """`text` with every address left out.

    >>> without_addresses("Failed to fetch: `https://me:pw@host.example/simple/`")
    'Failed to fetch: `<address>`'
    """
    return _ADDRESS.sub("<address>", text)


def reason(output: str, program: str) -> str:
    """Why a download failed, in one line, from what `program` (pip or uv) printed."""
    if "No space left on device" in output:
        return "no space left on the disk"
    if _UNREACHED.search(output):
        return f"no package registry was reached: {WHAT_TO_DO}"
    lines = [line.strip() for line in without_addresses(output).splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "cause"))] or lines[-1:]
    return f"{program}: {errors[-1][:400]}" if errors else f"{program} failed without a word"
