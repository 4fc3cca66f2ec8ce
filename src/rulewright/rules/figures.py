"""Numbers as people read them: counts, shares, amounts and factors."""

from __future__ import annotations

import math

# From here on, decimals are noise.
_LARGE = 1e6
# Beyond these sizes a number needs an exponent to be readable.
_HUGE, _TINY = 1e15, 1e-4
_MOST_DECIMALS = 6


def write_weight(weight: float) -> str:
    """Write a number of rows: ``5,909``, or ``86.4`` where weights are not whole."""
    if abs(weight) >= _HUGE:
        return f"{weight:.3g}"
    if float(weight).is_integer() or abs(weight) >= 1000.0:
        return f"{weight:,.0f}"
    return f"{weight:.3g}" if abs(weight) < 10.0 else f"{weight:.1f}"


def write_number(value: float, sign: str = "", digits: int = 4) -> str:
    """Write a number with some significant digits, thousands separated: ``59,090`` or ``0.0412``.

    With ``sign="+"`` a number above 0 has a sign too.
    """
    size = abs(value)
    if not size < _HUGE or 0.0 < size < _TINY:
        return f"{value:{sign}.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(size))) if size else 0
    text = f"{value:{sign},.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def write_share(share: float, decimals: int | None = None) -> str:
    """Write a share in percent without the sign: ``79``, ``4.2``, ``0.41``.

    Shares close to 0 or 1 get more decimals, so that rare classes do not read as 0.
    """
    places = share_decimals(share) if decimals is None else decimals
    return f"{100.0 * share:.{places}f}"


def share_decimals(share: float) -> int:
    """Choose the decimals of a share in percent: ``79``, ``4.2``, ``0.41``, ``95.3``, ``99.6``."""
    rare = 100.0 * min(share, 1.0 - share)
    if not rare > 10.0**-_MOST_DECIMALS or rare >= 9.95:
        return 0
    decimals = min(_MOST_DECIMALS, 1 - math.floor(math.log10(rare) + 1e-9))
    return decimals if share < 0.5 else max(1, decimals - 1)


def write_percent(share: float) -> str:
    """Write a share in percent: ``79 %``, ``0.41 %``."""
    return f"{write_share(share)} %"


def write_factor(points: float) -> str:
    """Write what points multiply the odds by: ``x11``, ``x0.096``."""
    factor = math.exp(min(points, 700.0))
    if factor >= _LARGE:
        return "x>1,000,000"
    if factor >= 9.95:
        return f"x{factor:,.0f}"
    return f"x{factor:.1f}" if factor >= 0.995 else f"x{factor:.2g}" if factor >= _TINY else "x0.00"


def format_signed(value: float) -> str:
    """Write what is added to a score: three decimals, and a sign unless they are all 0."""
    if abs(value) >= _LARGE:
        return f"{value:+.3g}"
    text = f"{value:+.3f}"
    return text if float(text) else text[1:]


def write_exact(value: float, sign: str = "") -> str:
    """Write all digits of a number, so that reading it gives the same number."""
    text = repr(value).removesuffix(".0")
    return f"+{text}" if sign and value > 0.0 else text
