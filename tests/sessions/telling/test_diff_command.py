from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxlab.cli import app
from ctxlab.errors import InputError
from ctxlab.tokens import count
from tests.cache.requests import base, text, tool, user
from tests.sessions.logs import SECRET, bodies


def diff(*args: object) -> Result:
    return CliRunner().invoke(app, ["diff", *map(str, args)])


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


@pytest.fixture
def pair(tmp_path):
    def made(before, after, wrap=lambda body: body):
        return [write(tmp_path / f"{name}.json", wrap(body)) for name, body in
                (("before", before), ("after", after))]  # fmt: skip

    return made


def edited(body, **changes):
    return {**body, "tools": [tool("a"), {**tool("b"), **changes}]}


def test_a_broken_prefix_is_exit_code_1_with_place_tokens_and_money(pair):
    body = bodies(1)[0]
    done = diff(*pair(body, edited(body, description="better")))
    assert done.exit_code == 1
    first, change, lost, cost, advice = done.stdout.splitlines()
    assert first == "the prefix broke at tools /tools/1/description"
    assert change == '  edited b /description: "b tool" → "better"'
    assert "o200k estimate" in lost
    assert cost.startswith("cost: 0.0")
    assert advice.startswith("Freeze the declaration of 'b'")


def test_appending_is_exit_code_0(pair):
    first, second = bodies(2)
    done = diff(*pair(first, second))
    assert done.exit_code == 0
    assert done.stdout.startswith("the prefix is whole\n")
    told = json.loads(diff(*pair(first, second), "--json").stdout)
    assert (told["broke"], told["segment"], told["usd"]) == (False, None, 0.0)


def test_json(pair):
    body = bodies(1)[0]
    told = json.loads(diff(*pair(body, edited(body, description="better")), "--json").stdout)
    assert (told["broke"], told["segment"], told["tool"]) == (True, "tools", "b")
    assert told["path"] == "/tools/1/description"
    assert told["changes"] == [
        {"kind": "edited", "tool": "b", "pointer": "/description", "before": "b tool",
         "after": "better", "semantic": True},
    ]  # fmt: skip
    least = count(body["messages"][0]["content"][0]["text"])
    assert told["lost_tokens_at_breakpoint"] > least
    # 5 USD a million: 1.25× to write less 0.1× to read.
    assert told["usd"] == pytest.approx(told["lost_tokens_at_breakpoint"] * 5 * 1.15 / 1e6)
    assert told["tokenizer"] == "o200k estimate"


def test_an_hour_s_marker_costs_an_hour_s_write(pair):
    body = bodies(1)[0] | {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    told = json.loads(diff(*pair(body, edited(body, description="better")), "--json").stdout)
    assert told["ttl"] == "1h"
    assert told["usd"] == pytest.approx(told["lost_tokens_at_breakpoint"] * 5 * 1.9 / 1e6)


def test_our_recorder_s_lines(pair, tmp_path):
    body = bodies(1)[0]
    done = diff(*pair(body, edited(body, x=1), wrap=lambda each: {"time": 1, "request": each}))
    assert done.exit_code == 1
    lines = tmp_path / "log.jsonl"
    lines.write_text(json.dumps({"request": body}) + "\n")
    assert diff(lines, lines).exit_code == 0


def test_a_parameter_that_changed(pair):
    body = bodies(1)[0]
    choice = {"type": "tool", "name": "a"}
    done = diff(*pair(body, {**body, "tool_choice": choice}))
    assert done.exit_code == 1
    assert done.stdout.startswith("the prefix broke at messages /tool_choice\n")


def test_unknown_models_and_old_parameters_are_compared_all_the_same(pair):
    body = {**bodies(1)[0], "model": "claude-opus-9", "temperature": 1}
    done = diff(*pair(body, edited(body, description="better")))
    assert done.exit_code == 1
    assert "cost: unknown" in done.stdout
    assert "no rules are known for claude-opus-9: no minimum is assumed" in done.stdout
    for one, other in ((bodies(1)[0], body), (body, bodies(1)[0])):
        done = diff(*pair(one, other))
        assert done.exit_code == 1
        assert done.stdout.startswith("the prefix broke at model\n")
        assert "no rules are known for claude-opus-9: a minimum of" in done.stdout
        assert "model_rules" not in done.stdout


def test_a_marker_that_was_left_out_breaks_what_did_not_change(pair):
    body = bodies(1)[0]
    done = diff(*pair(body, {key: body[key] for key in body if key != "cache_control"}))
    assert done.exit_code == 1
    first, lost, cost, advice = done.stdout.splitlines()
    assert first == "the prefix is not found"
    assert lost.endswith("; 0 tokens stand behind the change (o200k estimate)")
    assert cost.startswith("cost: ")
    assert "breakpoint" in advice


def test_secrets_and_control_characters_stay_in_the_files(pair):
    before = base(system=[text(1, f"\x1b[31m {SECRET}")])
    after = base(system=[text(1, f"\x1b[31m {SECRET} now")])
    for option in ((), ("--json",)):
        told = diff(*pair(before, after), *option).stdout
        assert SECRET not in told
        assert "\x1b" not in told


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"messages": []}', '{"request": {"model": "x"}}', '{"a": 1}\n{}']
)
def test_what_is_no_request_body_is_said(tmp_path, text):
    path = tmp_path / "wrong.jsonl"
    path.write_text(text)
    done = diff(path, path)
    assert isinstance(done.exception, InputError)
    assert done.exception.exit_code == 2
    assert "wrong.jsonl" in str(done.exception)


def test_the_place_where_long_texts_differ_is_shown(pair):
    body, long = bodies(1)[0], "Reads a file of the workspace. " * 20
    before = edited(body, description=long)
    done = diff(*pair(before, edited(body, description=f"{long}Never two."))).stdout.splitlines()
    assert done[1] == "  edited b /description"
    assert done[2].startswith("    - …")
    assert done[2].endswith('workspace. "')
    assert done[3].endswith('workspace. Never two."')
    assert all(len(line) <= 110 for line in done[2:4])


def test_an_edited_prompt_is_shown(pair):
    prompt = "You help. " * 50
    done = diff(*pair(base(system=prompt), base(system=f"{prompt}It is 10:42.")))
    assert done.stdout.splitlines()[1:2] == ["  edited /system"]
    assert done.stdout.splitlines()[3].endswith('You help. It is 10:42."')
    spaces = diff(*pair(base(system="a b"), base(system="a  b"))).stdout
    assert 'edited /system: "a b" → "a  b"' in spaces


def test_a_difference_that_is_masked_is_said(pair):
    done = diff(*pair(base(system=f"key {SECRET}"), base(system=f"key {SECRET}1"))).stdout
    assert "they differ in what is masked" in done


def test_what_is_nested_too_deep_is_exit_code_2(pair):
    deep = '{"a":' * 900 + "1" + "}" * 900
    for body in ({**bodies(1)[0], "metadata": "deep"}, edited(bodies(1)[0], input_schema="deep")):
        files = pair(bodies(1)[0], body)
        files[1].write_text(files[1].read_text().replace('"deep"', deep))
        done = diff(*files)
        assert isinstance(done.exception, InputError)
        assert "after.json: nested too deep" in str(done.exception)


def test_encodings(pair, tmp_path):
    before, _ = pair(bodies(1)[0], bodies(1)[0])
    marked = tmp_path / "marked.json"
    marked.write_bytes(b"\xef\xbb\xbf" + before.read_bytes())
    assert diff(before, marked).exit_code == 0
    marked.write_bytes(before.read_text().encode("utf-16"))
    assert "marked.json: UTF-16" in str(diff(before, marked).exception)


def test_home_is_a_path(pair, monkeypatch, tmp_path):
    pair(bodies(1)[0], bodies(1)[0])
    monkeypatch.setenv("HOME", str(tmp_path))
    assert diff("~/before.json", "~/after.json").exit_code == 0


def test_what_the_api_would_refuse_is_said(pair):
    five = base(messages=[user(*(text(9, str(n), cache_control={"type": "ephemeral"})
                                 for n in range(5)))])  # fmt: skip
    done = diff(*pair(five, five))
    assert isinstance(done.exception, InputError)
    done = diff(*pair(bodies(1)[0], five))
    assert "after.json: the API would refuse the request: " in str(done.exception)
    assert "Found 7" in str(done.exception) or "maximum of 4" in str(done.exception)


def test_help_has_an_example():
    assert "ctxlab diff before.json after.json" in diff("--help").stdout
