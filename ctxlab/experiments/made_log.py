"""A service's log that is the same on every machine: requests, warnings, and real tracebacks.

>>> log = service_log(lines=3, failures=(1,))
>>> log.splitlines()[0]
'2026-11-30 14:00:00,000 INFO orders: request 1000 POST /orders 201 in 32 ms'
>>> log.splitlines()[1]
'2026-11-30 14:00:01,137 ERROR orders: request 1001 failed'

The tracebacks are Python's own, of code that is compiled here under a made-up name; the marks under
their lines, which differ between versions of Python, are left out.
"""

from __future__ import annotations

import linecache
import random
import re
import traceback
from collections.abc import Sequence

LINES = 1_200
FAILURES = (311, 602, 603, 975)
"""Which requests fail: not near the ends, where any cut would keep them."""

_FILE = "orders/service.py"
_SERVICE = """
def handle(request):
    return price(request["items"]) * (1 + request["tax"])

def price(items):
    return sum(item["unit"] * item["count"] for item in items)

def retried(request):
    try:
        return handle(request)
    except KeyError as error:
        raise RuntimeError(f"order {request['id']} cannot be priced") from error
"""
_MARKS = re.compile(r"^ +[~^]+\n", re.MULTILINE)


def service_log(lines: int = LINES, failures: Sequence[int] = FAILURES) -> str:
    """A log of so many requests, of which these fail."""
    draw = random.Random(0)  # noqa: S311  numbers that look alike, no secret
    written = []
    for number in range(lines):
        stamp = f"2026-11-30 {14 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}"
        stamp += f",{number * 137 % 1000:03}"
        request = 1_000 + number
        if number in failures:
            written.append(f"{stamp} ERROR orders: request {request} failed\n{_failure(request)}")
        else:
            level = "WARNING" if number % 97 == 96 else "INFO"  # noqa: PLR2004  now and then
            took = draw.randrange(8, 60)
            said = f"request {request} POST /orders 201 in {took} ms"
            written.append(f"{stamp} {level} orders: {said}\n")
    return "".join(written)


def _failure(request: int) -> str:
    names: dict[str, object] = {}
    linecache.cache[_FILE] = (len(_SERVICE), None, _SERVICE.splitlines(keepends=True), _FILE)
    exec(compile(_SERVICE, _FILE, "exec"), names)  # noqa: S102  our own text above
    order = {"id": request, "tax": 0.1, "items": [{"unit": 5, "count": 2}, {"unit": 3}]}
    try:
        names["retried"](order)  # type: ignore[operator]
    except RuntimeError as error:
        trace = error.__traceback__
        told = traceback.format_exception(type(error), error, trace and trace.tb_next)
        return _MARKS.sub("", "".join(told))
    return ""
