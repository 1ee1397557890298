"""The form of RFC 8785, for content and claims (sections "Digest" and "Claims"). What cannot be written exactly is refused."""

import re
from typing import Any, List

from .outcome import Fails, require
from .strict_json import Number

_MOST_LEVELS = 64
_SPECIAL = re.compile(r'[\x00-\x1f"\\]')
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def double_text(value: float) -> str:
    """A double as ECMAScript writes it: Python has the same shortest digits, in another layout."""
    if value == 0:
        return "0"
    mantissa, _, power = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    written = (whole + fraction).lstrip("0")
    point = int(power or "0") + len(whole) - (len(whole + fraction) - len(written))
    digits = written.rstrip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    rest = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def _number(number: Number) -> str:
    value = float(number.text)
    require(not (value.is_integer() and abs(value) >= 2**53), f"The integer {number.text[:40]} is beyond 2^53.")
    return double_text(value)


def _string(text: str) -> str:
    require(not _SURROGATE.search(text), "A text has half a character (an unpaired surrogate).")
    return '"' + _SPECIAL.sub(lambda match: _SHORT.get(match.group(), f"\\u{ord(match.group()):04x}"), text) + '"'


def _write(value: Any, parts: List[str], level: int) -> None:
    require(level <= _MOST_LEVELS or not isinstance(value, (list, dict)), f"The JSON has more than {_MOST_LEVELS} levels.")
    if value is None or isinstance(value, bool):
        parts.append({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, Number):
        parts.append(_number(value))
    elif isinstance(value, str):
        parts.append(_string(value))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            parts.append("," if index else "[")
            _write(item, parts, level + 1)
        parts.append("]" if value else "[]")
    elif isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        for index, name in enumerate(names):
            parts.append("," if index else "{")
            parts.append(_string(name) + ":")
            _write(value[name], parts, level + 1)
        parts.append("}" if value else "{}")
    else:
        raise Fails("This is no JSON value.")


def canonical(value: Any) -> bytes:
    """The bytes of a parsed value in the form of RFC 8785."""
    parts: List[str] = []
    _write(value, parts, 1)
    return "".join(parts).encode("utf-8")
