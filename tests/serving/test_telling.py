from __future__ import annotations

from ctxlab.serving.telling import Streams, printable


def test_a_switched_model_is_a_stream_that_follows_and_back_again_goes_on():
    streams = Streams()
    body = {"messages": [{"role": "user", "content": "hello"}]}
    assert streams.of(body, "opus") == ("main/opus", "")
    assert streams.of(body, "sonnet") == ("main/sonnet", "main/opus")
    assert streams.of(body, "opus") == ("main/opus", "main/sonnet")
    assert streams.of(body, "opus") == ("main/opus", "")


def test_two_conversations_are_told_apart():
    streams = Streams()
    one, two = ({"messages": [{"role": "user", "content": said}]} for said in ("one", "two"))
    assert [streams.of(body, "m")[0] for body in (one, two, one)] == [
        "main/m",
        "conversation-2/m",
        "main/m",
    ]


def test_what_could_steer_a_terminal_is_not_printed():
    assert printable("grep\x1b[2J\r\n") == "grep�[2J��"
