"""Values of DER elements, and structures with exactly the elements that their standards list (section "rfc3161", DER)."""

import re
from typing import List, Optional

from .. import clock
from ..outcome import Fails, require
from . import der
from .der import Element

_UTC = re.compile(rb"([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})Z")
_GENERALIZED = re.compile(rb"([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})(?:\.([0-9]{0,8}[1-9]))?Z")


class Fields:
    """The elements of a structure, taken one after the other. `end` makes sure that none is left."""

    def __init__(self, element: Element, tag: int, what: str) -> None:
        require(element.tag == tag, f"{what} is of another type.")
        self._left = list(reversed(element.children))
        self._what = what

    def next_is(self, *tags: int) -> bool:
        """Whether the next element has one of these tags."""
        return bool(self._left) and self._left[-1].tag in tags

    def optional(self, *tags: int) -> Optional[Element]:
        """The next element, if it has one of these tags."""
        return self._left.pop() if self.next_is(*tags) else None

    def take(self, *tags: int) -> Element:
        """The next element, which must have one of these tags."""
        element = self.optional(*tags)
        if element is None:
            raise Fails(f"{self._what} lacks an element, or has another in its place.")
        return element

    def end(self) -> None:
        """Nothing is left."""
        require(not self._left, f"{self._what} has an element too many.")


def elements(element: Element, tag: int, what: str) -> List[Element]:
    """The elements of a SEQUENCE OF or a SET OF."""
    require(element.tag == tag, f"{what} is of another type.")
    return element.children


def explicit(element: Element, what: str) -> Element:
    """What an explicit tag contains: one element."""
    require(len(element.children) == 1, f"{what} does not contain exactly one element.")
    return element.children[0]


def integer(element: Element) -> int:
    """The value of an INTEGER or ENUMERATED, also under an implicit tag."""
    der.check_integer(element.content)
    return int.from_bytes(element.content, "big", signed=True)


def boolean(element: Element) -> bool:
    """The value of a BOOLEAN, also under an implicit tag."""
    der.check_boolean(element.content)
    return element.content == b"\xff"


def whole_bytes(element: Element, what: str) -> bytes:
    """The content of a BIT STRING that has no unused bits."""
    require(element.content[0] == 0, f"{what} does not consist of whole bytes.")
    return element.content[1:]


def oid(element: Element) -> str:
    """An OBJECT IDENTIFIER with dots."""
    arcs, arc = [], 0
    for byte in element.content:
        arc = arc << 7 | byte & 0x7F
        if byte < 0x80:
            arcs.append(arc)
            arc = 0
    first = min(arcs[0] // 40, 2)
    return ".".join(str(part) for part in (first, arcs[0] - 40 * first, *arcs[1:]))


def time(element: Element, what: str, fraction_allowed: bool = False) -> int:
    """A UTCTime or GeneralizedTime in milliseconds. A fraction is cut off after them."""
    is_utc = element.tag == der.UTC_TIME
    match = (_UTC if is_utc else _GENERALIZED).fullmatch(element.content)
    if match is None:
        raise Fails(f"{what} is not written as a time in UTC with seconds.")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if is_utc:
        year += 1900 if year >= 50 else 2000
    fraction = b"" if is_utc else match.group(7) or b""
    require(not fraction or fraction_allowed, f"{what} has a fraction.")
    found = clock.from_parts(year, month, day, hour, minute, second, int((fraction + b"000")[:3]))
    if found is None:
        raise Fails(f"{what} is no valid time.")
    return found
