"""The command `ctxlab`: thin. A verb parses, calls, prints; it imports what it needs when called.

Exit codes: 0 well; 1 a run failed or got worse, a prefix broke, lint found something; 2 wrong usage
or input; 75 another batch holds the lock; 130 interrupted.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path

import typer

from ctxlab.errors import CtxlabError, UsageError
from ctxlab.quick import QuickCommand, QuickGroup

app = typer.Typer(
    name="ctxlab",
    cls=QuickGroup,
    help="Measure what an LLM agent's tools do to its context.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130
_LONGEST_ERROR = 1_000


class FailOn(StrEnum):
    """What makes a batch fail."""

    FAILED = "failed"
    WORSE = "worse"


class Then(StrEnum):
    """What follows the last scripted reply."""

    ERROR = "error"
    ECHO = "echo"
    REPEAT = "repeat"


class Cluster(StrEnum):
    """Where a cluster is started."""

    LOCAL = "local"


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"ctxlab {version('ctxlab')}")
        raise typer.Exit


@app.callback()
def _root(
    _: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Say the version and exit."
    ),
) -> None:
    """Measure what an LLM agent's tools do to its context."""


_RESULTS = typer.Option(
    None, metavar="PLACE", help="directory or URL of the runs; by default results/ of the project"
)
_PLAN = typer.Option(None, metavar="PLAN.toml", help="the runs of this plan, and no others")
_ENGINE = typer.Option(None, help="how kernels are started: ordinary or forked")
_TIMEOUT = typer.Option(None, help="seconds that a whole run may take")
_FORCE = typer.Option(False, "--force", help="run even what succeeded before with the same inputs")
_JSON = typer.Option(False, "--json", help="print the outcomes as JSON")


@app.command("run")
def _run(
    notebook: Path = typer.Argument(help="the notebook"),
    parameters: list[str] = typer.Option(
        None, "-p", "--parameter", metavar="NAME=VALUE", help="text as written, the rest is JSON"
    ),
    look: bool = typer.Option(False, "--list", help="say which parameters there are, run nothing"),
    entry: str = typer.Option(None, help="by default the notebook's name without its number"),
    needs: list[str] = typer.Option(
        None, metavar="ENTRY", help="whose newest tables it reads; by default as plan.toml says"
    ),
    results: str = _RESULTS,
    force: bool = _FORCE,
    timeout: float = _TIMEOUT,
    engine: str = _ENGINE,
    as_json: bool = _JSON,
) -> None:
    """Run one notebook into a directory of its own under results/.

    Exit code 1: it failed; the run is kept. 2: the notebook or a parameter is wrong; nothing ran.

    Example: ctxlab run notebooks/01_tool_mutations.ipynb -p toolset=my_tools.json
    """
    from ctxlab.workbench import command, telling

    read, passed = command.read(notebook, parameters or ())
    if look:
        typer.echo(command.parameters_text(read.parameters))
        return
    with command.ended_by_signals():
        outcome = command.run(
            read, passed, entry=entry, needs=needs or None, results=results,
            force=force, timeout=timeout, engine=engine or "ordinary",
        )  # fmt: skip
    typer.echo(telling.outcomes_json([outcome]) if as_json else telling.outcomes_text([outcome]))
    raise typer.Exit(0 if outcome.well else 1)


@app.command("batch")
def _batch(
    plan: Path = typer.Argument(None, help="by default notebooks/plan.toml of the project"),
    results: str = _RESULTS,
    jobs: int = typer.Option(None, help="runs at a time; by default one a processor"),
    scheduler: str = typer.Option(
        None, metavar="ADDRESS", help="run on the workers of a dask scheduler: tcp://HOST:8786"
    ),
    cluster: Cluster = typer.Option(None, help="start a dask cluster here for this batch"),
    fail_on: FailOn = typer.Option(
        FailOn.FAILED,
        help="worse: also when a table got worse than its baseline, or its run before",
    ),
    force: bool = _FORCE,
    timeout: float = _TIMEOUT,
    engine: str = _ENGINE,
    as_json: bool = _JSON,
) -> None:
    """Run every notebook of a plan that did not succeed before with the same inputs.

    Exit code 1: a run failed (the others went on), or got worse and --fail-on says so, which is
    told with the rows that did, in the JSON under `worse`; 2: the plan or a parameter is wrong,
    nothing ran; 75: another batch is running over the same results.

    Example: ctxlab batch notebooks/plan.toml --jobs 2
    """
    from ctxlab.workbench import command, comparing, telling

    with command.ended_by_signals():
        outcomes = command.batch(
            plan, results=results, jobs=jobs, scheduler=scheduler,
            cluster=cluster and cluster.value, force=force, timeout=timeout, engine=engine,
        )  # fmt: skip
    asked = fail_on is FailOn.WORSE
    if not as_json:
        typer.echo(telling.outcomes_text(outcomes))
    worse = comparing.worse(outcomes, results) if asked else []
    if as_json:
        reasons = comparing.worse_json(worse) if asked else None
        typer.echo(telling.outcomes_json(outcomes, reasons))
    elif asked:
        typer.echo(f"\n{comparing.worse_text(worse)}")
    raise typer.Exit(0 if all(outcome.well for outcome in outcomes) and not worse else 1)


@app.command("list", cls=QuickCommand)
def _list(
    entry: str = typer.Argument(None, help="whose runs; by default each entry's newest"),
    results: str = typer.Option(
        None, metavar="PATH", help="where runs are kept; by default results/ of the project"
    ),
    as_json: bool = typer.Option(False, "--json", help="print them as JSON"),
) -> None:
    """List entries with their newest runs, or the runs of one entry.

    Example: ctxlab list tool_mutations --json
    """
    import json

    from ctxlab.workbench import stores, telling

    store = stores.at(results).refresh()
    folder = store.folder
    rows = telling.runs_rows(entry, folder) if entry else telling.entries_rows(folder)
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        typer.echo(telling.rows_text(rows) if rows else f"no runs in {store}")


@app.command("report")
def _report(results: str = _RESULTS) -> None:
    """Rebuild results/index.html, the gallery of entries and runs.

    Example: ctxlab report
    """
    from ctxlab.workbench import index, stores

    typer.echo(index.rebuild(stores.at(results)))


@app.command("compare")
def _compare(
    runs: list[str] = typer.Argument(
        None,
        metavar="[BEFORE AFTER | ENTRY...]",
        help="two runs, or an entry; with --baseline entries, or none: all",
    ),
    against: bool = typer.Option(False, "--baseline", help="newest runs against their baseline"),
    plan: Path = _PLAN,
    results: str = _RESULTS,
    html: Path = typer.Option(
        None, metavar="FILE", help="write a page instead; of several entries one page has all"
    ),
    as_json: bool = typer.Option(False, "--json", help="print everything as JSON"),
) -> None:
    """Say what changed between two runs: their inputs, then every row of their tables.

    A run is a run directory, ENTRY/RUN-ID, baseline/ENTRY, or an entry (its newest run). One entry
    alone: its newest run against the one before. With --baseline --plan the plan's runs are
    compared; each must be there, and have a baseline. Exit code 1: something is worse, missing or
    failed.

    Example: ctxlab compare tool_mutations
    """
    from ctxlab.workbench import chosen, comparing

    if plan and (runs or not against):
        raise UsageError("--plan goes with --baseline, and names the entries by itself")
    wanted = (
        chosen.planned(plan, results) if plan
        else chosen.pairs(runs or [], results, baseline=against)
    )  # fmt: skip
    found = comparing.compare(wanted)
    if html:
        typer.echo(comparing.write_page(html, found))
    else:
        typer.echo(comparing.as_json(found) if as_json else comparing.as_text(found))
    raise typer.Exit(1 if any(each.bad for each in found) else 0)


@app.command("baseline")
def _baseline(
    entries: list[str] = typer.Argument(None, help="by default every entry"),
    plan: Path = _PLAN,
    drop: list[str] = typer.Option(
        None, metavar="ENTRY", help="remove this entry's accepted run; accepts nothing"
    ),
    results: str = _RESULTS,
) -> None:
    """Accept the newest successful runs as what later runs are held against.

    With --plan they are the runs with the plan's own inputs, one for each step. What is accepted of
    other entries stays as it is; --drop removes an entry's, and says so.

    Example: ctxlab baseline tool_mutations
    """
    from ctxlab.workbench import baseline, stores

    if plan and entries:
        raise UsageError("--plan names the entries by itself")
    if drop and (plan or entries):
        raise UsageError("--drop removes and accepts nothing: call `ctxlab baseline` once for each")
    if drop:
        for path in baseline.drop(drop, results):
            typer.echo(f"removed {stores.of(path).told(path)}")
        return
    moved = (
        baseline.accept_planned(plan, results) if plan
        else baseline.accept_newest(entries or [], results)
    )  # fmt: skip
    for path in moved:
        typer.echo(stores.of(path).told(path))


@app.command("export")
def _export(
    runs: list[str] = typer.Argument(
        metavar="RUN...", help="run directories, ENTRY/RUN-ID, entries"
    ),
    output: Path = typer.Option(Path("report.zip"), "-o", "--output", help="the file to write"),
    results: str = _RESULTS,
    force: bool = typer.Option(False, "--force", help="replace a file that is there"),
) -> None:
    """Put runs and an index of them into one zip file, to be opened offline.

    Example: ctxlab export tool_mutations grep_tokens -o report.zip
    """
    from ctxlab.workbench import chosen
    from ctxlab.workbench.export import export

    found = chosen.run_directories(runs, results)
    typer.echo(export(found, output, force=force))


@app.command("prune")
def _prune(
    keep: int = typer.Option(None, help="how many of each entry's newest runs stay"),
    older_than: str = typer.Option(None, help="only runs older than this go: 12h, 90d, 8w"),
    entries: list[str] = typer.Option(
        None, "--entry", metavar="ENTRY", help="only this entry's runs go"
    ),
    whole: bool = typer.Option(
        False, "--all", help="with --entry: all of its runs go, the newest too"
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="say what would go, remove nothing"),
    results: str = _RESULTS,
) -> None:
    """Remove old runs; never a baseline, an entry's newest run or its newest successful one.

    With --all every run of an entry goes, such as one of experiments that failed; its baseline, if
    it has one, stays.

    Example: ctxlab prune --keep 30 --older-than 90d
    """
    from ctxlab.workbench import lock, prune, stores

    store = stores.at(results)
    with lock.batch_lock(store.folder, str(store)):
        doomed = prune.prune(
            keep, older_than, results, entries=entries or None, whole=whole, dry_run=dry_run
        )
    typer.echo("".join(f"{run.entry}/{run.run_id}\n" for run in doomed), nl=False)
    many = "1 run" if len(doomed) == 1 else f"{len(doomed)} runs"
    typer.echo(f"{'would remove' if dry_run else 'removed'} {many}")


@app.command("data")
def _data(
    names: list[str] = typer.Argument(
        None, metavar="[NAME]...", help="inputs of data/sources.toml; all when left out"
    ),
    force: bool = typer.Option(False, "--force", help="fetch them even where they are right"),
    look: bool = typer.Option(False, "--list", help="say what is there, fetch nothing"),
    record: bool = typer.Option(
        False, "--record", help="ask the servers, and write down what they say as the record"
    ),
    as_json: bool = typer.Option(False, "--json", help="print the outcomes as JSON"),
) -> None:
    """Fetch vocabularies, source trees and tool lists of MCP servers into data/cache.

    What is there and right is not fetched again. Exit code 1: a server did not give its tools, the
    rest is there; 2: something that every run needs is missing.

    Example: ctxlab data git atlassian --force
    """
    from ctxlab import sources

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    if look:
        outcomes = sources.status(names or ())
    else:
        outcomes = sources.fetch(names or (), force=force, record=record, tell=tell)
    text = sources.as_json(outcomes) if as_json else sources.as_text(outcomes, always_rows=look)
    typer.echo(text)
    sources.raise_failures(outcomes)
    if any(outcome.state == "failed" for outcome in outcomes):
        raise typer.Exit(1)


@app.command("schedule")
def _schedule(
    options: list[str] = typer.Argument(
        None, metavar="[-- BATCH OPTIONS]", help="further options of `ctxlab batch`, behind --"
    ),
    cron: str = typer.Option("0 3 * * *", help="five cron fields, or @daily and the like"),
    plan: Path = typer.Option(Path("notebooks/plan.toml"), help="the batch to run"),
    install: bool = typer.Option(False, "--install", help="write it into your crontab"),
    remove: bool = typer.Option(False, "--remove", help="take it out of your crontab"),
) -> None:
    """Run a batch on a schedule: crontab entry, systemd timer, CI workflow.

    Example: ctxlab schedule --cron "0 3 * * *" --install -- --fail-on worse
    """
    from ctxlab import project
    from ctxlab.workbench import schedule

    path = project.resolve(plan)
    if remove:
        typer.echo(f"removed {schedule.remove(path)} crontab entry of {path}")
        return
    if not path.is_file():
        raise UsageError(f"no plan {path}")
    planned = schedule.Schedule(cron, path, tuple(options or ()))
    if install:
        typer.echo(f"in your crontab:\n\n{schedule.install(planned)}")
        return
    typer.echo(f"{planned.crontab_lines()}\n{planned.systemd()}\n{planned.workflow()}")


@app.command("lint")
def _lint(
    file: Path = typer.Argument(help="a request, a JSONL of requests, or a list of tools"),
    as_json: bool = typer.Option(False, "--json", help="print the findings as JSON"),
) -> None:
    """Look for what breaks a prompt cache or wastes a context, by the documents' anti-patterns.

    Exit code 1: something was found.

    Example: ctxlab lint data/cache/toolsets/git.json
    """
    from ctxlab.cache.linting import as_json as json_of
    from ctxlab.cache.linting import as_text, lint_file

    file = file.expanduser()
    here = Path.cwd() / file
    found = lint_file(here if here.exists() else file)
    typer.echo(json_of(found) if as_json else as_text(found, file))
    if found:
        raise typer.Exit(1)


@app.command("diff")
def _diff(
    before: Path = typer.Argument(help="a request body, or a line of a request log, as JSON"),
    after: Path = typer.Argument(help="the request that followed it"),
    as_json: bool = typer.Option(False, "--json", help="print the difference as JSON"),
) -> None:
    """Say what changed between two requests, what of the prompt cache that loses, what it costs.

    Exit code 1: the prefix broke; 2: a file holds no request body. Made for the CI of an agent.

    Example: ctxlab diff before.json after.json
    """
    from ctxlab.sessions.telling import differing

    found = differing.differ(before, after)
    typer.echo(differing.as_json(found) if as_json else differing.as_text(found))
    raise typer.Exit(1 if found.told.broke else 0)


@app.command("audit")
def _audit(
    path: Path = typer.Argument(help="a transcript, a request log, a usage record, or a folder"),
    every: bool = typer.Option(False, "--all", help="show every request, not only around a break"),
    as_json: bool = typer.Option(False, "--json", help="print everything as JSON"),
    context: bool = typer.Option(
        False,
        "--context",
        help="count what filled the contexts of many sessions, or of a large one, too",
    ),
    html: Path = typer.Option(None, help="write the notebook's report of it to this file"),
) -> None:
    """Read recorded sessions and explain every cache break in them: what broke it, what it cost.

    Reads Claude Code transcripts, request logs and what an agent's command line prints. What filled
    the context is told of one session; of many, and of one above 32 MB, with --context. Exit code
    2: nothing there could be read.

    Example: ctxlab audit ~/.claude/projects --json
    """
    from ctxlab.errors import InputError
    from ctxlab.sessions import read_sessions

    path = path.expanduser()
    if html:
        from ctxlab import project
        from ctxlab.workbench import command

        if as_json or every or context:
            raise UsageError(
                "--html writes the whole report: no --json, --all or --context with it"
            )
        _check_page(html)
    sessions = read_sessions(path)
    if not any(each.exchanges for each in sessions):
        raise InputError("no request was recorded here", path=path)
    if html:
        notebook = project.root() / "notebooks" / "10_session_audit.ipynb"
        typer.echo(command.report_of(notebook, [f"transcripts={path.resolve()}"], html))
        return
    from ctxlab.sessions.telling import audit as telling
    from ctxlab.sessions.telling import filling, scripted
    from ctxlab.sessions.telling.summary import audit_all

    found = audit_all(sessions)
    context = context or (len(found) == 1 and filling.is_small(found[0].session))
    if as_json:
        typer.echo(scripted.as_json(found, context=context))
    else:
        typer.echo(telling.as_text(found, every=every, context=context, root=path))


def _check_page(html: Path) -> None:
    """Whether a report can be written there: told before it is made."""
    import os

    folder = html.parent
    if not folder.is_dir():
        raise UsageError(f"--html: there is no folder {folder}")
    if html.exists() and not html.is_file():
        raise UsageError(f"--html: {html} is no file")
    if not os.access(html if html.exists() else folder, os.W_OK):
        raise UsageError(f"--html: {html} cannot be written")


@app.command("serve")
def _serve(
    upstream: str = typer.Option(
        None, metavar="URL", help="forward to this address instead of simulating the answers"
    ),
    replies: Path = typer.Option(
        None,
        help="what the simulated model says, in order; by default it echoes. A JSON list, or JSONL "
        'with one a line: "a text", [content blocks], or {"content": either}',
    ),
    then: Then = typer.Option(
        Then.ERROR, help="what follows the last reply: a 400 error, echoes, or the first again"
    ),
    minimum_tokens: int = typer.Option(
        None,
        metavar="N",
        help="the shortest prefix that is simulated as cached; with it a model may have any name",
    ),
    record: Path = typer.Option(
        Path("ctxlab-requests.jsonl"), help="the log to append exchanges to, for `ctxlab audit`"
    ),
    host: str = typer.Option("127.0.0.1", help="where to listen"),
    port: int = typer.Option(8787, help="0 takes any free one"),
    max_body: str = typer.Option("32MB", metavar="SIZE", help="the largest request body"),
    timeout: float = typer.Option(600.0, help="seconds that the upstream may be silent"),
    latency: float = typer.Option(
        0.02,
        help="seconds until a simulated answer begins; requests that come closer together overlap",
    ),
) -> None:
    """Serve a local endpoint for any agent: simulated, or forwarding; each exchange is recorded.

    Prints the base URL to export, then a line a request: tokens read, written and uncached, USD,
    and why the cache broke if it did. No key is recorded. Ctrl-C ends it.

    Example: ctxlab serve --upstream https://api.anthropic.com --record session.jsonl
    """
    from ctxlab import serving
    from ctxlab.serving.options import size

    options = serving.Options(
        record=record.expanduser(), host=host, port=port, upstream=upstream,
        max_body=size(max_body),
        replies=serving.read_replies(replies.expanduser()) if replies else None, timeout=timeout,
        latency=latency, then=then.value, minimum_tokens=minimum_tokens,
    )  # fmt: skip
    serving.serve(options, typer.echo, lambda line: typer.echo(f"ctxlab: {line}", err=True))


def main() -> None:
    """Run a verb; whatever it refuses becomes one line on stderr and an exit code."""
    try:
        app()
    except CtxlabError as error:
        _stop(str(error), error.exit_code)
    except KeyboardInterrupt:
        _stop("interrupted", INTERRUPTED)
    except SystemExit as ended:  # typer ends an interrupted verb by itself, without a word
        if ended.code == INTERRUPTED:
            _stop("interrupted", INTERRUPTED)
        raise
    except RuntimeError as error:  # how pathlib tells of a link that leads to itself
        if "Symlink loop" not in str(error):
            raise
        _stop(str(error), 2)
    except BrokenPipeError:  # `ctxlab list | head`: the reader has what it wanted
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _stop(f"{where}{error.strerror or error}", 2)


def _stop(message: str, code: int) -> None:
    sys.stderr.write(f"ctxlab: {_one_line(message)}\n")
    sys.exit(code)


def _one_line(message: str) -> str:
    """Errors quote names and values that anybody may have written: nothing of them acts here."""
    line = "".join(letter if letter.isprintable() else "·" for letter in " ".join(message.split()))
    return line if len(line) <= _LONGEST_ERROR else f"{line[: _LONGEST_ERROR - 1]}…"


if __name__ == "__main__":
    main()
