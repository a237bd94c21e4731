"""Typer commands whose texts and flags are taken as they come.

typer asks pydantic to convert every argument, texts and flags too, and pydantic takes longer to
import than `ctxlab list` takes to run. Not handled: anything but texts and flags; an argument of
another type is converted by typer as ever.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class QuickGroup(TyperGroup):
    """For `Typer(cls=QuickGroup)`: its own options are flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options, those that need none without a converter."""
        return _as_they_come(super().get_params(ctx))


class QuickCommand(TyperCommand):
    """For `app.command(cls=QuickCommand)`: of a verb that answers at once."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its arguments and options, those that need none without a converter."""
        return _as_they_come(super().get_params(ctx))


class _AsItComes:
    """Stands for typer's converter of one argument."""

    def coerce(self, value: Any, **_: Any) -> Any:
        return value


def _as_they_come(parameters: list[Any]) -> list[Any]:
    """Where a later typer keeps its converters elsewhere, this does nothing."""
    for parameter in parameters:
        described = getattr(parameter, "type_descriptor", None)
        if getattr(described, "annotation", None) in (str, bool):
            parameter._runtime_param = _AsItComes()  # noqa: SLF001  there is no public way
    return parameters
