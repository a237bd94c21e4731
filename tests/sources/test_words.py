from __future__ import annotations

import pytest

from ctxlab.sources.words import WHAT_TO_DO, reason, without_addresses

PIP_OFFLINE = """\
WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(\
"HTTPSConnection(host='mirror.example', port=443): Failed to establish a new connection: \
[Errno 111] Connection refused")': /simple/requests/
ERROR: Could not find a version that satisfies the requirement requests==2.32.3 \
(from versions: none)
ERROR: No matching distribution found for requests==2.32.3
"""
UV_OFFLINE = """\
error: Request failed after 3 retries in 8.3s
  cause: Failed to fetch: `https://me:hush@mirror.example/simple/mcp-server-git/`
  cause: client error (Connect)
  cause: dns error
"""
PIP_LACKS_IT = """\
Looking in indexes: https://me:hush@mirror.example/simple, https://other.example/simple
ERROR: Could not find a version that satisfies the requirement flask==9 (from versions: 1.0, 2.0)
ERROR: No matching distribution found for flask==9
"""
UV_LACKS_IT = """\
error: No solution found when resolving tool dependencies
  cause: Because there is no version of mcp-server-git==9, your requirements are unsatisfiable.
hint: An index URL (https://mirror.example/simple) could not be queried.
"""


@pytest.mark.parametrize("output", [PIP_OFFLINE, UV_OFFLINE])
def test_a_registry_that_is_away_is_told_with_what_to_do(output):
    assert reason(output, "pip") == f"no package registry was reached: {WHAT_TO_DO}"


def test_what_a_registry_lacks_is_told_by_name():
    assert reason(PIP_LACKS_IT, "pip") == (
        "pip: ERROR: No matching distribution found for flask==9"
    )
    assert "no version of mcp-server-git==9" in reason(UV_LACKS_IT, "uv")


def test_a_full_disk_is_told():
    said = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
    assert reason(said, "pip") == "no space left on the disk"


def test_silence_is_told():
    assert reason(" \n", "uv") == "uv failed without a word"


@pytest.mark.parametrize(
    "text",
    [
        "https://me:hush@mirror.example:8443/simple/x/",
        "`https://mirror.example/simple`",
        "HTTPSConnectionPool(host='mirror.example', port=443): Max retries",
        "file:///opt/mirror.example/simple",
        "git+ssh://git@mirror.example/x.git",
        "(https://mirror.example)",
        "Failed to connect to mirror.example:443",
    ],
)
def test_no_address_is_left(text):
    told = without_addresses(text)
    assert "mirror.example" not in told
    assert "hush" not in told
    assert "<address>" in told


def test_other_text_stays():
    text = "mcp-server-git==2026.10.19: KeyError at /usr/lib/python3/x.py:12"
    assert without_addresses(text) == text
