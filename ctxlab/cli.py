"""The command `ctxlab`: thin. A verb parses, calls, prints; it imports what it needs when called.

Exit codes: 0 well; 1 a run failed or got worse, a prefix broke, lint found something; 2 wrong usage
or input; 75 another batch holds the lock; 130 interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from ctxlab.errors import CtxlabError, UsageError

app = typer.Typer(
    name="ctxlab",
    help="Measure what an LLM agent's tools do to its context.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130


@app.callback()
def _root() -> None:
    """Measure what an LLM agent's tools do to its context."""


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
    except BrokenPipeError:  # `ctxlab list | head`: the reader has what it wanted
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _stop(f"{where}{error.strerror or error}", 2)


def _stop(message: str, code: int) -> None:
    sys.stderr.write(f"ctxlab: {message}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
