"""Times are whole milliseconds since 1970 in UTC. This module reads and writes them, and knows which days exist."""

import re
from typing import Optional, Tuple

_WRITTEN = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DAY = 86_400_000
_DAYS_OF_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _days_before_year(year: int) -> int:
    """Days from 0001-01-01 to the first day of the year, in the Gregorian calendar."""
    past = year - 1
    return past * 365 + past // 4 - past // 100 + past // 400


def _month_lengths(year: int) -> Tuple[int, ...]:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return tuple(days + 1 if leap and month == 1 else days for month, days in enumerate(_DAYS_OF_MONTHS))


_EPOCH = _days_before_year(1970)


def from_parts(year: int, month: int, day: int, hour: int, minute: int, second: int, millisecond: int = 0) -> Optional[int]:
    """The time; None if there is no such day, hour, minute or second. 24:00 and second 60 do not exist."""
    if not 1 <= month <= 12 or not 1 <= day <= _month_lengths(year)[month - 1]:
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    days = _days_before_year(year) - _EPOCH + sum(_month_lengths(year)[: month - 1]) + day - 1
    return days * _DAY + ((hour * 60 + minute) * 60 + second) * 1000 + millisecond


_FIRST, _LAST = -_EPOCH * _DAY, (_days_before_year(10_000) - _EPOCH) * _DAY - 1


def parse_time(text: str) -> Optional[int]:
    """A time by RFC 3339 of the years 1 to 9999 in UTC, cut off after milliseconds, or a date; None for anything else."""
    text = f"{text}T00:00:00Z" if _DATE.fullmatch(text) else text
    match = _WRITTEN.fullmatch(text)
    if not match:
        return None
    year, month, day, hour, minute, second = (int(match.group(part)) for part in range(1, 7))
    time = from_parts(year, month, day, hour, minute, second, int((match.group(7) or "")[:3].ljust(3, "0")))
    hours, minutes = int(match.group(9) or 0), int(match.group(10) or 0)
    if time is None or year < 1 or hours > 23 or minutes > 59:
        return None
    offset = (hours * 60 + minutes) * 60_000
    time += offset if match.group(8) == "-" else -offset
    return time if _FIRST <= time <= _LAST else None


def format_time(time: int) -> str:
    """The same way round: in UTC, with a fraction only if there are milliseconds."""
    days, rest = divmod(time, _DAY)
    days += _EPOCH
    year = days * 400 // 146_097 + 1
    while _days_before_year(year) > days:
        year -= 1
    while _days_before_year(year + 1) <= days:
        year += 1
    day, month = days - _days_before_year(year), 0
    for month, length in enumerate(_month_lengths(year)):
        if day < length:
            break
        day -= length
    seconds, millisecond = divmod(rest, 1000)
    fraction = f".{millisecond:03}" if millisecond else ""
    hour, minute, second = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{year:04}-{month + 1:02}-{day + 1:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"
