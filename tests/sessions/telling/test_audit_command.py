from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ctxlab import cli, project
from ctxlab.errors import InputError, RunFailed, UsageError
from ctxlab.sessions.telling import filling
from ctxlab.sessions.telling.shown import columns_of
from ctxlab.workbench import command
from ctxlab.workbench.outcome import Outcome
from tests.sessions.logs import SECRET, planted_log
from tests.workbench.fixtures import notebook

PARAMETERS = """\
from pathlib import Path
transcripts: Path = ""  # the sessions
output_dir: str = ""  # where the run is saved; empty saves nothing"""


def audit(*args: object) -> Result:
    return CliRunner().invoke(cli.app, ["audit", *map(str, args)])


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planted_log(tmp_path_factory.mktemp("log") / "agent.jsonl")


def test_one_session_shows_summary_then_requests(log):
    done = audit(log)
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[:2] == ["session agent (requests)", "12 requests in 1 stream"]
    assert all(columns_of(line) <= 80 for line in lines)
    for cause in ("tools", "system", "TTL expired"):
        assert sum(line.endswith(f"  {cause}") for line in lines) == 1
    (place,) = [line for line in lines if "/tools/0" in line]
    assert place.startswith("          └ b /tools/0; lost ")


def test_long_sessions_show_what_is_around_a_break(tmp_path):
    log = planted_log(tmp_path / "long.jsonl", 40)
    lines = audit(log).stdout.splitlines()
    assert any(line.endswith("unbroken requests") for line in lines)
    assert sum(line[2:3] == ":" for line in audit(log, "--all").stdout.splitlines()) == 40


def test_many_sessions_show_a_line_each(tmp_path):
    for number in range(25):
        (tmp_path / f"log{number}.jsonl").write_bytes(b"")
        planted_log(tmp_path / f"log{number}.jsonl", 4 if number else 8)
    done = audit(tmp_path)
    lines = done.stdout.splitlines()
    assert lines[:2] == ["25 sessions", "104 requests in 25 streams"]
    assert sum(line.startswith("log") for line in lines) == 20
    assert next(line for line in lines if line.startswith("log")).startswith("log0.jsonl ")
    assert "… and 5 more; --json tells of all" in lines
    assert all(columns_of(line) <= 80 for line in lines[:-1])
    assert lines[-1] == f"ctxlab audit {tmp_path}/log0.jsonl"


def test_long_names_leave_room_for_the_numbers(tmp_path):
    (tmp_path / "-home-me-app").mkdir()
    for number in range(2):
        name = f"1af7fc5e-8455-4414-9ccd-011d40f70b2{number}"
        planted_log(tmp_path / "-home-me-app" / f"{name}.jsonl", 4)
        planted_log(tmp_path / f"{name}-日本語日本語日本語日本語日本語日本語日本語.jsonl", 4)
    lines = audit(tmp_path).stdout.splitlines()[:-1]
    assert max(map(columns_of, lines)) == 80
    assert sum(line.startswith("-home-me-app/1af7fc5e") for line in lines) == 2
    assert sum(line.startswith("…5e-8455-4414") for line in lines) == 2
    assert sum(line.split()[1:3] == ["4", "1"] for line in lines) == 4


def test_a_file_with_several_sessions_names_them(tmp_path):
    usage = {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 1}
    told = [{"type": "result", "usage": usage, "session_id": name} for name in ("a", "b")]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in told))
    lines = audit(tmp_path / "runs.jsonl").stdout.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("runs")] == [
        ["runs.jsonl", "a"], ["runs.jsonl", "b"],
    ]  # fmt: skip


def test_what_has_no_price_is_unknown(tmp_path):
    priced = planted_log(tmp_path / "priced.jsonl", 8)
    (tmp_path / "own").mkdir()
    own = tmp_path / "own" / "own.jsonl"
    text = priced.read_text().replace("claude-opus-5", "my-model")
    own.write_text(text.replace('"msg_', '"msg_own_'))
    told = audit(own).stdout.splitlines()
    assert "cost: unknown: no request has a price" in told
    assert next(line for line in told if line.startswith(("tools ", "system "))).endswith(" –")
    assert "0.0000" not in audit(own).stdout
    (session,) = json.loads(audit(own, "--json").stdout)["sessions"]
    assert (session["usd"], session["usd_lost"], session["unpriced"]) == (None, None, 8)
    assert {one["usd"] for one in session["breaks"].values()} == {None}
    both = audit(tmp_path).stdout
    assert "cost: at least 0." in both
    assert "USD; 8 requests without a price" in both
    assert [line.split()[-2:] for line in both.splitlines() if line.startswith("own/")] == [
        ["–", "–"]
    ]
    sums = json.loads(audit(tmp_path, "--json").stdout)
    assert sums["usd"] == sums["sessions"][1]["usd"]
    assert sums["unpriced"] == 8
    assert sums["breaks"]["tools"]["unpriced"] == 1


def test_bodies_without_usage_tell_of_no_tokens(tmp_path):
    log = planted_log(tmp_path / "agent.jsonl", 8)
    rows = [json.loads(line)["request"] for line in log.read_text().splitlines()]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = audit(log).stdout.splitlines()
    assert "tokens and cost: unknown, no usage was recorded" in lines
    assert next(line for line in lines if line.startswith("tools ")).split()[-2:] == ["–", "–"]


def test_json_begins_with_the_sums_over_all_sessions(tmp_path):
    for name in "ab":
        planted_log(tmp_path / f"{name}.jsonl", 8).open("a").write("42\n")
    told = json.loads(audit(tmp_path, "--json").stdout)
    assert told["requests"] == 16
    assert told["tokens"]["read"] == sum(each["tokens"]["read"] for each in told["sessions"])
    assert told["usd_lost"] == pytest.approx(sum(each["usd_lost"] for each in told["sessions"]))
    assert told["breaks"]["tools"]["count"] == 2
    assert [(skip["reason"], skip["count"]) for skip in told["skipped"]] == [
        ("a line that is no JSON object", 2)
    ]


def test_what_filled_the_context_is_told_of_one_session_and_of_many_when_asked(
    log, tmp_path, monkeypatch
):
    told = audit(log).stdout.splitlines()
    start = told.index("context, every block once (o200k estimate):")
    assert told[start + 1].split() == ["filled", "by", "blocks", "tokens", "share"]
    assert told[start + 2].split()[0] in ("user", "tools:", "system", "assistant", "tool")
    (session,) = json.loads(audit(log, "--json").stdout)["sessions"]
    assert sum(each["share"] for each in session["context"]) == pytest.approx(1)
    assert set(session["context"][0]) == {
        "origin", "tool", "blocks", "tokens", "share", "inferred",
    }  # fmt: skip
    for name in "ab":
        planted_log(tmp_path / f"{name}.jsonl", 4)
    assert "o200k" not in audit(tmp_path).stdout
    assert "o200k" in audit(tmp_path, "--context").stdout
    many = json.loads(audit(tmp_path, "--json").stdout)
    assert [each["context"] for each in many["sessions"]] == [None, None]
    asked = json.loads(audit(tmp_path, "--json", "--context").stdout)
    assert all(each["context"] for each in asked["sessions"])
    monkeypatch.setattr(filling, "SMALL", 10)
    assert "o200k" not in audit(log).stdout
    assert "o200k" in audit(log, "--context").stdout


@pytest.mark.parametrize("option", ["--json", "--all", "--context"])
def test_a_page_goes_with_nothing_that_would_be_dropped(tmp_path, log, option):
    done = audit(log, option, "--html", tmp_path / "page.html")
    assert isinstance(done.exception, UsageError)
    assert not (tmp_path / "page.html").exists()


def test_where_a_page_cannot_be_written_nothing_runs(tmp_path, log):
    for page, told in (
        (tmp_path, "is no file"), ("/dev/full", "is no file"), (tmp_path / "a" / "b", "no folder"),
    ):  # fmt: skip
        done = audit(log, "--html", page)
        assert isinstance(done.exception, UsageError)
        assert told in str(done.exception)


def test_where_nothing_can_be_read_no_page_is_made(tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    done = audit(tmp_path / "empty.jsonl", "--html", tmp_path / "page.html")
    assert isinstance(done.exception, InputError)


def test_errors_are_one_clean_line(tmp_path, capsys, monkeypatch):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    gone = str(tmp_path / ("no\nsuch\x1b[31m" + "q" * 3_000))
    for verb in (["audit", gone], ["audit", str(loop)], ["lint", str(loop)]):
        monkeypatch.setattr("sys.argv", ["ctxlab", *verb])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        told = capsys.readouterr().err
        assert ended.value.code == 2
        assert told.startswith("ctxlab: ")
        assert len(told) < 1_100
        assert told.rstrip("\n").isprintable()


def test_a_log_in_which_everything_breaks_is_shortened(tmp_path):
    log = planted_log(tmp_path / "agent.jsonl", 4)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    with log.open("w") as file:
        for number in range(500):
            row = rows[number % 2]
            row["time"], row["response"]["id"] = 1_764_500_000 + number * 40, f"msg_{number}"
            row["request"]["system"] = f"prompt {number}"
            row["response"]["usage"] |= {"cache_read_input_tokens": 0}
            file.write(json.dumps(row) + "\n")
    lines = audit(log).stdout.splitlines()
    assert lines[-1].endswith("more lines; --all shows every request")
    assert len(lines) < 450
    assert len(audit(log, "--all").stdout.splitlines()) > 1_000


def test_a_log_of_both_kinds_says_so(tmp_path):
    log = planted_log(tmp_path / "agent.jsonl", 4)
    log.write_text(log.read_text().replace('"schema": 1', '"simulated": true', 1))
    assert "(partly simulated: of some requests no API answered)" in audit(log).stdout


def test_lines_that_are_nested_deep_are_told_as_the_others(tmp_path):
    log = planted_log(tmp_path / "agent.jsonl", 4)
    lines = log.read_text().splitlines()
    lines[2] = lines[2].replace('"question 0', '"x", "input": ' + '{"a":' * 300 + "1" + "}" * 300
                                + ', "y": "question 0')  # fmt: skip
    log.write_text("\n".join(lines) + "\n")
    done = audit(log)
    assert done.exit_code == 0, done.exception
    assert "4 requests" in done.stdout
    assert audit(log, "--json").exit_code == 0


def test_costs_that_are_none_are_left_out_and_counted(tmp_path):
    usage = {"input_tokens": 1, "output_tokens": 2}
    each = {"type": "result", "usage": usage, "session_id": "z"}
    costs = (1.7e308, 1.7e308, 1e300, -1, 0.5)
    told = [{**each, "uuid": f"k{n}", "total_cost_usd": usd} for n, usd in enumerate(costs)]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(each) + "\n" for each in told))
    lines = audit(tmp_path / "run.jsonl").stdout.splitlines()
    assert "cost: at least 0.5000 USD; 4 requests without a price" in lines
    assert "  4 × total_cost_usd left out, no amount of money" in lines


def test_home_is_a_path(log, monkeypatch):
    monkeypatch.setenv("HOME", str(log.parent))
    assert audit(f"~/{log.name}").exit_code == 0


def test_usage_records_tell_of_no_breaks(tmp_path):
    usage = {"input_tokens": 3, "cache_read_input_tokens": 7, "output_tokens": 1}
    told = [{"type": "result", "usage": usage, "total_cost_usd": 0.5, "session_id": "s"}]
    (tmp_path / "run.json").write_text(json.dumps(told))
    done = audit(tmp_path / "run.json")
    assert done.exit_code == 0
    assert "usage records are sums over runs" in done.stdout
    assert "cost: 0.5000 USD" in done.stdout


def test_json_has_the_table_and_more(log):
    done = audit(log, "--json")
    (session,) = json.loads(done.stdout)["sessions"]
    assert [row["cause"] for row in session["rows"] if row["broke"]] == [
        "tools", "system", "TTL expired",
    ]  # fmt: skip
    assert {row["pointer"] for row in session["rows"]} == {"", "/tools/0", "/system/0/text"}
    assert session["usd_lost"] == pytest.approx(
        sum(one["usd"] for one in session["breaks"].values())
    )
    assert session["tokens"]["read"] == sum(row["read"] for row in session["rows"])
    assert "NaN" not in done.stdout


def test_nothing_of_the_text_and_no_control_character_reaches_the_terminal(tmp_path):
    log = planted_log(tmp_path / "agent.jsonl", 8)
    raw = log.read_text().replace('"name": "b"', '"name": "\\u001b]0;x\\u0007b"')
    log.write_text(raw)
    for option in ((), ("--json",), ("--all",)):
        told = audit(log, *option).stdout
        assert SECRET not in told
        assert "\x1b" not in told
        assert "\x07" not in told


def test_what_was_not_counted_is_said(tmp_path):
    log = planted_log(tmp_path / "agent.jsonl", 4)
    with log.open("a") as file:
        file.write("broken\n42\n")
    done = audit(tmp_path)
    assert done.exit_code == 0
    assert "not counted:" in done.stdout.splitlines()


def test_where_nothing_can_be_read_the_exit_code_is_2(tmp_path, capsys, monkeypatch):
    (tmp_path / "nothing.txt").write_text("no session")
    for path in (tmp_path, tmp_path / "gone.jsonl"):
        assert isinstance(audit(path).exception, InputError)
    monkeypatch.setattr("sys.argv", ["ctxlab", "audit", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("ctxlab: ")


def test_html_runs_the_notebook_on_that_path(tmp_path, log, monkeypatch):
    asked: list[object] = []
    monkeypatch.setattr(command, "report_of", lambda *args: asked.extend(args) or args[-1])
    monkeypatch.chdir(log.parent)
    done = audit(log.name, "--html", tmp_path / "page.html")
    assert (done.exit_code, done.stdout.strip()) == (0, str(tmp_path / "page.html"))
    path = project.root() / "notebooks" / "10_session_audit.ipynb"
    assert asked == [path, [f"transcripts={log}"], tmp_path / "page.html"]


def test_the_report_alone_is_kept(tmp_path, log):
    small = notebook(tmp_path / "10_x.ipynb", "print(transcripts)", parameters=PARAMETERS)
    page = command.report_of(small, [f"transcripts={log}"], tmp_path / "page.html")
    assert "agent.jsonl" in page.read_text()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["10_x.ipynb", "page.html"]
    links = re.findall(r'href="([^"]*)"', page.read_text())
    # The page stands alone: its icon is in it.
    assert [link for link in links if not link.startswith(("#", "data:"))] == []


def test_a_notebook_that_fails_leaves_no_page(tmp_path, log, monkeypatch):
    failed = Outcome("x", "failed", reason="OSError: no")
    monkeypatch.setattr(command, "run", lambda *_, **__: failed)
    small = notebook(tmp_path / "10_x.ipynb", parameters=PARAMETERS)
    with pytest.raises(RunFailed, match="x: OSError: no"):
        command.report_of(small, [f"transcripts={log}"], tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_help_has_an_example():
    assert "ctxlab audit ~/.claude/projects --json" in audit("--help").stdout
