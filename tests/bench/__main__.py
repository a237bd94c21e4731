"""Run the benchmarks named on the command line, or all of them."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from tests.bench import Figure

ROW = "{:<58} {:>9} {:<4} {:<3} {:>7}  {:<7} {}"


def main(wanted: list[str]) -> None:
    areas = sorted(path.stem[6:] for path in Path(__file__).parent.glob("bench_*.py"))
    unknown = sorted(set(wanted) - set(areas))
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(unknown)}; there are {', '.join(areas)}")
    for area in wanted or areas:
        print(f"\n{area}", flush=True)
        for figure in import_module(f"tests.bench.bench_{area}").figures():
            print(row(figure), flush=True)


def row(figure: Figure) -> str:
    sign = "≥" if figure.at_least else "≤"
    told = f"{figure.against}  {figure.detail}".rstrip()
    value, bound = f"{figure.value:,.2f}", f"{figure.bound:,.6g}"
    return ROW.format(figure.name, value, figure.unit, sign, bound, figure.verdict, told).rstrip()


if __name__ == "__main__":
    main(sys.argv[1:])
