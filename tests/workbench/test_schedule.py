import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from ctxlab import errors, project
from ctxlab.workbench import schedule
from tests.conftest import REPOSITORY, need_service

OTHERS = """\
MAILTO="someone"
0   3 * * *  echo  50\\%  # spaces   and percent
a line that cron would refuse
#0 4 * * * a disabled job
# ctxlab batch of /somewhere/else: notebooks/plan.toml
0 1 * * * another checkout's batch
"""


@pytest.fixture
def crontab(tmp_path, monkeypatch):
    """A `crontab` command whose table is a file."""
    table = tmp_path / "table"
    command = tmp_path / "bin" / "crontab"
    command.parent.mkdir()
    command.write_text(
        f'#!/bin/sh\nif [ "$1" = -l ]; then cat {table} 2>/dev/null '
        f'|| {{ echo "no crontab for me" >&2; exit 1; }}; else cat > {table}; fi\n'
    )
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    return table


def plan(name="notebooks/plan.toml"):
    return project.root() / name


@pytest.mark.parametrize(
    ("cron", "lines"),
    [
        ("0 3 * * *", ["*-*-* 03:00:00"]),
        ("*/20 1-3 * jan mon-fri", ["Mon..Fri *-01-* 01,02,03:00,20,40:00"]),
        ("0 0 * * 5-7", ["Sun,Fri,Sat *-*-* 00:00:00"]),
        ("0 3 1 * 7", ["*-*-01 03:00:00", "Sun *-*-* 03:00:00"]),
    ],
)
def test_systemd_says_when_cron_would_run(cron, lines):
    assert schedule.calendar_lines(cron) == lines


@pytest.mark.parametrize("cron", ["", "61 * * * *", "0 3 * *", "@reboot", "@often", "0 3 * * * *"])
def test_what_is_no_schedule_is_refused(cron):
    with pytest.raises(errors.UsageError, match="is no cron schedule; five fields"):
        schedule.Schedule(cron, plan())


def test_the_entry_escapes_percent_and_quotes_paths(monkeypatch, tmp_path):
    monkeypatch.setenv("CTXLAB_ROOT", str(tmp_path / "50% of it"))
    lines = schedule.Schedule("@daily", tmp_path / "a plan.toml").crontab_lines()
    assert "cd '" in lines
    assert "50\\% of it" in lines
    assert f"'{tmp_path}/a plan.toml'" in lines
    assert lines.count("\n") == 2


def workflow(*options, file="notebooks/plan.toml"):
    return schedule.Schedule("0 3 * * *", plan(file), options).workflow()


def test_ci_is_told_no_place_of_this_machine():
    inside = f"--results={project.root()}/out"
    steps = yaml.safe_load(workflow("--fail-on", "worse", inside))["jobs"]["batch"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands[-1] == (
        ".venv/bin/ctxlab batch notebooks/plan.toml --fail-on worse --results=out"
    )
    assert str(project.root()) not in workflow(inside)


@pytest.mark.parametrize(
    ("options", "file"),
    [
        ((), "/elsewhere/plan.toml"),
        (("--results", "/elsewhere"), "notebooks/plan.toml"),
        (("--results=/elsewhere",), "notebooks/plan.toml"),
    ],
)
def test_what_ci_cannot_have_it_is_not_told(options, file):
    told = workflow(*options, file=file)
    assert "/elsewhere" in told
    assert all(line.startswith("# ") for line in told.splitlines())


@pytest.mark.parametrize(("code", "well"), [(0, True), (1, True), (2, False)])
def test_in_ci_a_server_that_does_not_answer_stops_nothing(tmp_path, code, well):
    steps = yaml.safe_load(workflow())["jobs"]["batch"]["steps"]
    (fetch,) = [step["run"] for step in steps if " data" in step.get("run", "")]
    for file, text in ((".venv/bin/ctxlab", f"#!/bin/sh\nexit {code}\n"), ("Makefile", "")):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    (tmp_path / ".venv/.ready").touch()
    (tmp_path / ".venv/bin/ctxlab").chmod(0o755)
    done = subprocess.run(["bash", "-e", "-c", fetch], cwd=tmp_path, check=False)
    assert (done.returncode == 0) is well


def test_installing_and_removing_leaves_every_other_line_as_it_was(crontab):
    crontab.write_text(OTHERS)
    schedule.install(schedule.Schedule("0 3 * * *", plan()))
    schedule.install(schedule.Schedule("30 4 * * *", plan(), ("--fail-on", "worse")))
    schedule.install(schedule.Schedule("0 5 * * *", plan("other.toml")))
    table = crontab.read_text()
    assert table.startswith(OTHERS)
    assert "30 4 * * * cd " in table
    assert "0 3 * * * cd" not in table, "the same plan has one entry"
    assert schedule.remove(plan()) == 1
    assert schedule.remove() == 1
    assert crontab.read_text() == OTHERS
    assert schedule.remove() == 0


def test_without_a_crontab_yet_there_is_one_afterwards(crontab):
    lines = schedule.install(schedule.Schedule("0 3 * * *", plan()))
    assert crontab.read_text() == lines


def test_without_the_command_the_error_says_what_to_do_instead(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(errors.UsageError, match="use the systemd or CI form"):
        schedule.remove()


PRIVATE = """
set -eu
mkdir -p {tmp}/spool/crontabs {tmp}/run
chgrp crontab {tmp}/spool/crontabs && chmod 1730 {tmp}/spool/crontabs
mount --bind {tmp}/spool /var/spool/cron
mount --bind {tmp}/run /run
printf '%s' "$OTHERS" | crontab -
{python} -m ctxlab.cli schedule --cron '* * * * *' --plan {tmp}/plan.toml --install
cron -f & daemon=$!
trap 'kill $daemon' EXIT
for second in $(seq 100); do [ -s {tmp}/results/schedule.log ] && break; sleep 1; done
{python} -m ctxlab.cli schedule --plan {tmp}/plan.toml --remove
crontab -l > {tmp}/after
"""


@pytest.mark.services
def test_a_real_cron_daemon_runs_the_batch_and_no_other_line_changes(tmp_path):
    """In a mount namespace of its own: the machine's crontabs are never seen."""
    found = all(map(shutil.which, ("cron", "crontab", "unshare"))) and os.geteuid() == 0
    need_service(found, "cron, crontab, unshare and root are needed to try a real cron daemon")
    (tmp_path / "plan.toml").write_text("not a plan")
    others = "0   3 30 2 *  echo  50\\%  # spaces   and percent\n# a comment\n"
    script = PRIVATE.format(tmp=tmp_path, python=sys.executable)
    env = os.environ | {
        "OTHERS": others,
        "CTXLAB_RESULTS": str(tmp_path / "results"),
        "PYTHONPATH": str(REPOSITORY),
    }
    subprocess.run(["unshare", "-m", "bash", "-c", script], check=True, env=env)
    assert "plan.toml" in Path(tmp_path / "results" / "schedule.log").read_text()
    assert (tmp_path / "after").read_text() == others
