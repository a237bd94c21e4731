r"""A batch on a schedule: the user's crontab, and the same as a systemd timer and a CI workflow.

The batch is one idempotent command with clear exit codes, so a schedule may call it as often as it
likes. python-crontab reads the expression; the table itself we edit as text, because python-crontab
renders every line anew (`\%` loses its backslash, lines it does not know are commented out), and
nobody's other lines may change by a byte. Our entry is two lines: a marker and the command.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from crontab import CronRange, CronSlice, CronSlices

from ctxlab import project
from ctxlab.errors import UsageError

MARKER = "# ctxlab batch of"
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_PLACE = re.compile(r"^(-[^=]*=)?/")
"""A word of a command that names a place of this machine, an absolute path."""
_DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


@dataclass(frozen=True)
class Schedule:
    """When (five cron fields) and what (a plan, and further options of `ctxlab batch`)."""

    cron: str
    plan: Path
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "cron", _checked(self.cron))
        if "\n" in str(self.plan) + str(project.root()) + "".join(self.options):
            raise UsageError("a crontab line cannot hold a line end")

    def command(self) -> str:
        """The shell command: absolute paths, because cron's PATH is short and its folder HOME."""
        ctxlab = Path(sys.executable).parent / "ctxlab"
        batch = shlex.join([str(ctxlab), "batch", str(self.plan), *self.options])
        log = shlex.quote(str(project.results_dir() / "schedule.log"))
        return f"cd {shlex.quote(str(project.root()))} && {batch} >> {log} 2>&1"

    def crontab_lines(self) -> str:
        """The two lines of the entry; cron reads a bare `%` as a line end."""
        command = self.command().replace("%", "\\%")
        return f"{_marker(self.plan)}\n{self.cron} {command}\n"

    def systemd(self) -> str:
        """A service and a timer for `~/.config/systemd/user/`."""
        calendar = "\n".join(f"OnCalendar={line}" for line in calendar_lines(self.cron))
        command = f"/bin/sh -c {shlex.quote(self.command())}"
        command = command.replace("%", "%%").replace("$", "$$")
        return (
            "# ~/.config/systemd/user/ctxlab.service\n"
            "[Unit]\nDescription=ctxlab batch\n\n"
            f"[Service]\nType=oneshot\nExecStart={command}\n\n"
            "# ~/.config/systemd/user/ctxlab.timer\n"
            "# systemctl --user enable --now ctxlab.timer\n"
            f"[Timer]\n{calendar}\nPersistent=true\n\n"
            "[Install]\nWantedBy=timers.target\n"
        )

    def workflow(self) -> str:
        """A GitHub Actions workflow (times are UTC there) that keeps the reports.

        CI has the project alone: where the plan or an option names a place outside of it, a line
        says so instead.
        """
        words = [_here(word) for word in (str(self.plan), *self.options)]
        outside = next((word for word in words if _PLACE.search(word)), None)
        if outside:
            return (
                f"# no CI workflow: {outside} is not in the project, so CI has it not;\n"
                "# keep it in the project, and there is one\n"
            )
        return (
            "# .github/workflows/ctxlab.yml\n"
            f'on:\n  schedule:\n    - cron: "{self.cron}"\n'
            "jobs:\n  batch:\n    runs-on: ubuntu-latest\n    steps:\n"
            "      - uses: actions/checkout@v4\n"
            '      - uses: actions/setup-python@v5\n        with: {python-version: "3.11"}\n'
            "      # an MCP server that does not answer is named, and the rest fetched\n"
            "      - run: make .venv/.ready && { .venv/bin/ctxlab data || test $? -eq 1; }\n"
            f"      - run: .venv/bin/ctxlab batch {shlex.join(words)}\n"
            "      - uses: actions/upload-artifact@v4\n"
            "        if: always()\n        with: {name: results, path: results}\n"
        )


def calendar_lines(cron: str) -> list[str]:
    """The OnCalendar values of five cron fields.

    Cron runs when the day of the month *or* the day of the week matches, where both are given;
    one systemd line asks for both, so there are two then.

    >>> calendar_lines("*/30 3 * * 1-5")
    ['Mon..Fri *-*-* 03:00,30:00']
    >>> calendar_lines("0 3 1 * 0")
    ['*-*-01 03:00:00', 'Sun *-*-* 03:00:00']
    """
    minute, hour, day, month = (_systemd(part) for part in CronSlices(cron)[:4])
    week = _weekdays(CronSlices(cron)[4])
    time = f"{hour}:{minute}:00"
    if day != "*" and week:
        return [f"*-{month}-{day} {time}", f"{week}*-{month}-* {time}"]
    return [f"{week}*-{month}-{day} {time}"]


def install(schedule: Schedule) -> str:
    """Write the entry into the user's crontab, in the place of an earlier one of the same plan."""
    lines = schedule.crontab_lines()
    project.results_dir().mkdir(parents=True, exist_ok=True)  # the log's place
    _write_crontab(_without(_read_crontab(), _marker(schedule.plan)) + lines)
    return lines


def remove(plan: Path | None = None) -> int:
    """Take this project's entries (of one plan, or all) out of the crontab: how many there were."""
    before = _read_crontab()
    after = _without(before, _marker(plan) if plan else f"{MARKER} {project.root()}")
    if after != before:
        _write_crontab(after)
    return (before.count("\n") - after.count("\n")) // 2


def _marker(plan: Path) -> str:
    return f"{MARKER} {project.root()}: {_within_project(plan)}"


def _within_project(path: Path) -> str:
    root = project.root()
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def _here(word: str) -> str:
    """A word of a command, with the project's own folder left out of a path in it."""
    name, sign, path = word.partition("=") if word.startswith("-") else ("", "", word)
    return f"{name}{sign}{_within_project(Path(path))}" if path.startswith("/") else word


def _without(table: str, marker: str) -> str:
    kept, skip = [], False
    for line in table.splitlines(keepends=True):
        ours = line.rstrip("\n") == marker or line.startswith(f"{marker}: ")
        if not ours and not skip:
            kept.append(line)
        skip = ours
    text = "".join(kept)
    return text if not text or text.endswith("\n") else text + "\n"


def _read_crontab() -> str:
    done = _crontab("-l")
    if done.returncode == 0:
        return done.stdout
    if "no crontab" in done.stderr:
        return ""
    raise UsageError(f"crontab -l: {done.stderr.strip() or done.returncode}")


def _write_crontab(text: str) -> None:
    done = _crontab("-", text)
    if done.returncode:
        raise UsageError(f"crontab refused the new table: {done.stderr.strip()}")


def _crontab(argument: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["crontab", argument], input=text, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise UsageError("there is no `crontab` here; use the systemd or CI form") from None


def _checked(cron: str) -> str:
    expression = _ALIASES.get(cron.strip().lower(), " ".join(cron.split()))
    if "@" in expression or "~" in expression or not CronSlices.is_valid(expression):
        raise UsageError(f'{cron!r} is no cron schedule; five fields, such as "0 3 * * *"')
    return expression


def _systemd(part: CronSlice) -> str:
    return "*" if str(part) == "*" else ",".join(f"{value:02}" for value in _values(part))


def _weekdays(part: CronSlice) -> str:
    days = _values(part)
    if len(days) == len(_DAYS):
        return ""
    if len(days) > 2 and days == list(range(days[0], days[-1] + 1)):  # noqa: PLR2004  shorter as a list
        return f"{_DAYS[days[0]]}..{_DAYS[days[-1]]} "
    return ",".join(_DAYS[day] for day in days) + " "


def _values(part: CronSlice) -> list[int]:
    """The values that one field of five stands for, sorted."""
    found: set[int] = set()
    for item in part.parts:
        if isinstance(item, CronRange):
            found.update(item.range())
            found.update(() if item.dangling is None else (item.dangling,))
        else:
            found.add(int(item))
    return sorted(found)
