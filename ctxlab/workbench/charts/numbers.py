"""Numbers as people read them on an axis, on a bar and in a table."""

from __future__ import annotations

import math

_SIZES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def format_value(value: float, unit: str = "") -> str:
    """A number with about three digits: `12.3k`, `45 %`, `$0.31`, `2.5 kB`.

    The unit stands with the number where it is a sign (%, ×, USD, bytes); words stay on the axis.

    >>> [format_value(v, "tokens") for v in (0, 12, 1234, 123456, 2_500_000)]
    ['0', '12', '1,234', '123k', '2.5M']
    >>> format_value(45.25, "%"), format_value(0.0312, "USD"), format_value(2500, "bytes")
    ('45.2%', '$0.0312', '2.5 kB')
    """
    if not math.isfinite(value):
        return "n/a" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    sign = "−" if value < 0 else ""
    size = abs(value)
    if unit == "USD":
        return f"{sign}${_money(size)}"
    if unit == "bytes":
        return f"{sign}{_scaled(size, ' ')}B"
    suffix = {"%": "%", "×": "×"}.get(unit, "")
    return f"{sign}{_scaled(size) if size >= 10_000 else _digits(size)}{suffix}"


def _digits(size: float) -> str:
    """Three significant digits, whole numbers whole, no trailing zeros."""
    if size >= 1000:
        return f"{size:,.0f}"
    if size == round(size):
        return f"{size:.0f}"
    if size < 0.001:
        return f"{size:.1e}".replace("e-0", "e-")
    decimals = max(0, 2 - math.floor(math.log10(size)))
    text = f"{size:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else f"{round(size):,}"


def _scaled(size: float, gap: str = "") -> str:
    for factor, name in _SIZES:
        if size >= factor * 0.9995:
            return f"{_digits(float(f'{size / factor:.3g}'))}{gap}{name}"
    return f"{_digits(size)}{gap}"


def _money(size: float) -> str:
    """Cents for amounts a person would round to cents, three digits for small ones."""
    if size >= 10_000:
        return _scaled(size)
    if size >= 100 and size == round(size):
        return f"{size:,.0f}"
    if size == 0:
        return "0"
    cents = f"{size:,.2f}"
    return cents if size >= 1 or abs(size - float(cents)) < size / 1000 else _digits(size)
