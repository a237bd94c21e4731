"""Whatever stands in a request body, the answer is the API's: a 200, or an error in its form."""

from __future__ import annotations

import json
from contextlib import suppress
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxlab.cache import MessagesHandler, explain, lint
from ctxlab.errors import CtxlabError
from tests.cache.requests import MARK, assistant, base, call, result, simulator, text, tool, user

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4)
)
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=2),
    st.dictionaries(st.sampled_from(["type", "name", "text", "content"]), scalars, max_size=2),
)
FOUND = {
    "type": "tool_search_tool_search_result",
    "tool_references": [{"type": "tool_reference", "tool_name": "z"}],
}


def full() -> dict[str, Any]:
    """A request with one of everything."""
    change = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "a"}}
    image = {"type": "image", "source": {"type": "url", "url": "x"}}
    reference = {"type": "tool_reference", "tool_name": "z"}
    request = {
        **base(),
        "cache_control": MARK,
        "tool_choice": {"type": "auto"},
        "thinking": {"type": "adaptive"},
        "diagnostics": {"previous_message_id": None},
        "tools": [tool("a", cache_control=MARK), tool("z", defer_loading=True)],
        "messages": [
            user(text(1), image),
            {"role": "system", "content": [change]},
            assistant(
                {"type": "thinking", "thinking": "x", "signature": "s"},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "s", "input": {}},
                {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": FOUND},
                call(1),
            ),
            user(result(1, content=[text(1)]), result(2, content=[reference])),
            {"role": "assistant", "content": "fine"},
        ],
    }
    return deepcopy(request)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [at, *(place for key, child in inner for place in places(child, (*at, key)))]


PLACES = places(full())[1:]


def spoilt(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    request = full()
    target: Any = request
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    return request


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(PLACES), values)
def test_a_spoilt_request_gets_an_answer(place: tuple[Any, ...], value: Any):
    handler = MessagesHandler(simulator())
    answer = handler.answer("POST", "/v1/messages", {}, json.dumps(spoilt(place, value)).encode())
    body = json.loads(b"".join(answer.chunks))
    assert answer.status in (200, 400, 404)
    assert body["type"] == ("message" if answer.status == 200 else "error")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PLACES), values)
def test_a_spoilt_request_is_explained_linted_or_refused(place: tuple[Any, ...], value: Any):
    request = spoilt(place, value)
    for look in (
        lambda: explain(full(), request),
        lambda: explain(request, full()),
        lambda: lint(request),
    ):
        with suppress(CtxlabError):
            look()


def test_bodies_that_are_no_requests():
    handler = MessagesHandler(simulator())
    for body in (b"", b"{", b"[]", b"null", b"\xff", b'"x"'):
        answer = handler.answer("POST", "/v1/messages", {}, body)
        assert (answer.status, json.loads(b"".join(answer.chunks))["type"]) == (400, "error")
    assert handler.answer("GET", "/v1/messages", {}, b"").status == 405
    assert handler.answer("POST", "/v1/models", {}, b"{}").status == 404
