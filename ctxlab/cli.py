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
