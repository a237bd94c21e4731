# ruff: noqa: E501  tables with a row a line
from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxlab.sessions.recording.hiding import credentials_of, hidden, masked_path

KEY = "sk-ant-api03-abcdefghijklmnop"
OWN = "abcdefghijklmnop"


def told(text: str, *credentials: str) -> Any:
    return orjson.loads(hidden(text.encode(), credentials))


@pytest.mark.parametrize(
    ("sent", "written"),
    [
        (f'{{"a":["is {KEY} one?"]}}', {"a": ["is *** one?"]}),
        (f'{{"a":"\\n{KEY}"}}', {"a": "\n***"}),  # not an `n` before it
        ('{"a":"\\u0073k-ant-api03-abcdefghijklmnop"}', {"a": "***"}),
        (f'{{"a":"my {OWN}"}}', {"a": "my ***"}),
        ('{"a":"my \\u0061bcdefghijklmnop"}', {"a": "my ***"}),
        ('{"mcp_servers":[{"authorization_token":"short"}]}', {"mcp_servers": [{"authorization_token": "***"}]}),
        ('{"mcp_servers":[{"authorization\\u005ftoken":"short"}]}', {"mcp_servers": [{"authorization_token": "***"}]}),
        ('{"mcp_servers":{"a":{"authorization_token":"short"}}}', {"mcp_servers": {"a": {"authorization_token": "***"}}}),
        ('{"tools":[{"type":"mcp","headers":{"X-Mine":"short","Authorization":"Bearer x"}}]}', {"tools": [{"type": "mcp", "headers": {"X-Mine": "***", "Authorization": "***"}}]}),
        ('{"tools":[{"type":"mcp","authorization":"ya29.short"}]}', {"tools": [{"type": "mcp", "authorization": "***"}]}),
        ('{"tools":[{"type":"mcp","Authorization":["one"]}]}', {"tools": [{"type": "mcp", "Authorization": ["***"]}]}),
    ],
)  # fmt: skip
def test_what_is_masked(sent: str, written: Any):
    assert told(sent, OWN) == written


def test_a_key_that_stands_twice_is_masked_twice():
    sent = b'{"mcp_servers":[{"authorization_token":"secret-one","authorization_token":""}]}'
    assert b"secret" not in hidden(sent)


@pytest.mark.parametrize(
    "sent",
    [
        '{"max_tokens": 1234567890,"n":1.50,"abcdefghijklmnop":1}',
        '{"tools":[{"input_schema":{"properties":{"headers":{"type":"object"},"authorization":{"type":"string"}}}}]}',
        '{"headers":{"type":"text"}}',
        '{"a":"\\u00e9 \\/ stays as it was spelt","b":"\\u0000"}',
    ],
)  # fmt: skip
def test_what_stays_byte_for_byte(sent: str):
    assert hidden(sent.encode(), ["1234567890", OWN]) == sent.encode()


def test_what_of_the_headers_is_a_credential():
    model = ["claude-opus-4-5"]
    headers = {
        "authorization": "Bearer abcdefghijklmnop",
        "x-api-key": "hunter22",
        "cookie": "session=s3cr3tsess1on; theme=dark; other=1",
        "x-gateway-token": "gateway-1234567",
        "content-type": "application/json-12345678",
    }
    found = {"abcdefghijklmnop", "hunter22", "s3cr3tsess1on", "gateway-1234567"}
    assert set(credentials_of(headers, model)) == found
    for word in ("dummy", "12345678", "messages", "claude-opus-4-5", "opus-4-5"):
        assert credentials_of({"x-api-key": word}, model) == []


def test_a_secret_in_an_address():
    assert masked_path(f"http://me:hunter22@host/{KEY}/x") == "http://***@host/***/x"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.just(f"a {KEY}"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_JSON, st.booleans(), st.sampled_from(["", "0123456", '"', "\\u00", "{", "true"]))
def test_it_stays_json_and_loses_nothing_but_secrets(value: Any, ascii_only: bool, word: str):
    raw = json.dumps(value, ensure_ascii=ascii_only).encode()
    kept = hidden(raw, [word] if word else [])
    clean = json.loads(raw.replace(KEY.encode(), b"***"))
    assert _masked(clean, word) == orjson.loads(kept)
    assert KEY.encode() not in kept


def _masked(value: Any, word: str) -> Any:
    if isinstance(value, str):
        return value.replace(word, "***") if word else value
    if isinstance(value, list):
        return [_masked(each, word) for each in value]
    if isinstance(value, dict):
        return {key: _masked(each, word) for key, each in value.items()}
    return value
