import orjson

from ctxlab.sessions import Exchange, Line, Session


def written(path, *values):
    lines, offset = [], 0
    with path.open("wb") as file:
        for value in values:
            raw = orjson.dumps(value) + b"\n"
            file.write(raw)
            lines.append(Line(path, offset, len(raw)))
            offset += len(raw)
    return lines


def exchange(stream="main", **fields):
    return Exchange(time=0.0, model="claude-opus-5", usage={}, stream=stream, **fields)


def test_a_body_is_read_from_its_line(tmp_path):
    bare, recorded = written(tmp_path / "log.jsonl", {"model": "a"}, {"request": {"model": "b"}})
    assert exchange(lines=(bare,), has_body=True).body() == {"model": "a"}
    assert exchange(lines=(recorded,), has_body=True).body() == {"model": "b"}
    assert exchange(lines=(recorded,)).body() is None


def test_streams_keep_the_order_of_their_first_request():
    requests = tuple(exchange(name) for name in ("main", "agent-2", "main", "agent-1"))
    session = Session("s", "claude-code", (), requests)
    assert [(name, len(those)) for name, those in session.streams()] == [
        ("main", 2), ("agent-2", 1), ("agent-1", 1),
    ]  # fmt: skip
