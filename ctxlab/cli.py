"""The command `ctxlab`: thin. A verb parses, calls, prints; it imports what it needs when called.

Exit codes: 0 well; 1 a run failed or got worse, a prefix broke, lint found something; 2 wrong usage
or input; 75 another batch holds the lock; 130 interrupted.
"""

from __future__ import annotations

import sys

import typer

from ctxlab.errors import CtxlabError

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


def main() -> None:
    """Run a verb; whatever it refuses becomes one line on stderr and an exit code."""
    try:
        app()
    except CtxlabError as error:
        _stop(str(error), error.exit_code)
    except KeyboardInterrupt:
        _stop("interrupted", INTERRUPTED)
    except BrokenPipeError:  # `ctxlab list | head`: the reader has what it wanted
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _stop(f"{where}{error.strerror or error}", 2)


def _stop(message: str, code: int) -> None:
    sys.stderr.write(f"ctxlab: {message}\n")
    sys.exit(code)
