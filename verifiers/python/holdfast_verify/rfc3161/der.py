"""DER, read strictly into a tree (section "rfc3161", DER). All rules hold at every depth, before anything is interpreted."""

from typing import List, Optional

from ..outcome import require

BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, NULL, OID, ENUMERATED = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0A
UTC_TIME, GENERALIZED_TIME, SEQUENCE, SET = 0x17, 0x18, 0x30, 0x31
_CONSTRUCTED = 0x20
_MOST_LEVELS = 32
_MOST_ELEMENTS = 2**18
_MOST_LENGTH_BYTES = 3
_MOST_OID = 64


class Element:
    """An element: its identifier byte, its bytes, its content, and what is in it if it is constructed."""

    __slots__ = ("tag", "data", "start", "body", "end", "children")

    def __init__(self, tag: int, data: bytes, start: int, body: int, end: int, children: Optional[List["Element"]]) -> None:
        self.tag, self.data, self.start, self.body, self.end = tag, data, start, body, end
        self.children: List[Element] = [] if children is None else children

    @property
    def encoded(self) -> bytes:
        """The whole element."""
        return self.data[self.start : self.end]

    @property
    def content(self) -> bytes:
        """The element without its tag and length."""
        return self.data[self.body : self.end]


def context(number: int, constructed: bool = True) -> int:
    """The identifier byte of a context-specific tag."""
    return 0x80 | number | (_CONSTRUCTED if constructed else 0)


def check_boolean(content: bytes) -> None:
    """00 or ff."""
    require(content in (b"\x00", b"\xff"), "DER: a BOOLEAN is neither 00 nor ff.")


def check_integer(content: bytes) -> None:
    """At least a byte, and no more than needed."""
    require(len(content) > 0, "DER: an INTEGER is empty.")
    padded = len(content) > 1 and (content[0] == 0 and content[1] < 0x80 or content[0] == 0xFF and content[1] >= 0x80)
    require(not padded, "DER: an INTEGER is padded.")


def check_bit_string(content: bytes) -> None:
    """0 to 7 unused bits, which are zero, and none without content."""
    require(len(content) > 0, "DER: a BIT STRING is empty.")
    unused = content[0]
    require(unused <= 7, "DER: a BIT STRING has more than 7 unused bits.")
    require(unused == 0 or len(content) > 1, "DER: a BIT STRING has unused bits of nothing.")
    require(content[-1] & ((1 << unused) - 1) == 0 or len(content) == 1, "DER: unused bits of a BIT STRING are set.")


def check_null(content: bytes) -> None:
    """Empty."""
    require(content == b"", "DER: a NULL is not empty.")


def check_oid(content: bytes) -> None:
    """1 to 64 bytes, minimal arcs, the last one complete."""
    require(0 < len(content) <= _MOST_OID, "DER: an OBJECT IDENTIFIER has no or too many bytes.")
    require(content[-1] < 0x80, "DER: an OBJECT IDENTIFIER is cut off.")
    starts = [content[0], *(after for before, after in zip(content, content[1:]) if before < 0x80)]
    require(0x80 not in starts, "DER: an arc of an OBJECT IDENTIFIER is padded.")


_CHECKS = {
    BOOLEAN: check_boolean,
    INTEGER: check_integer,
    ENUMERATED: check_integer,
    BIT_STRING: check_bit_string,
    NULL: check_null,
    OID: check_oid,
}


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.count = 0

    def element(self, at: int, limit: int, level: int) -> Element:
        """The element that starts at `at`, in what ends at `limit`."""
        self.count += 1
        require(self.count <= _MOST_ELEMENTS, "DER: there are too many elements.")
        require(level <= _MOST_LEVELS, f"DER: there are more than {_MOST_LEVELS} levels.")
        tag = self.data[at]
        require(tag & 0x1F != 0x1F, "DER: a tag has several bytes.")
        body, end = self.extent(at + 1, limit)
        universal, constructed = tag < 0x40, bool(tag & _CONSTRUCTED)
        if universal:
            require(tag & 0x1F != 0, "DER: the tag 0.")
            require(constructed == (tag | _CONSTRUCTED in (SEQUENCE, SET)), "DER: a type is (not) constructed.")
            if tag in _CHECKS:
                _CHECKS[tag](self.data[body:end])
        children: Optional[List[Element]] = None
        if constructed:
            children = []
            inner = body
            while inner < end:
                child = self.element(inner, end, level + 1)
                children.append(child)
                inner = child.end
        return Element(tag, self.data, at, body, end, children)

    def extent(self, at: int, limit: int) -> "tuple[int, int]":
        """Where content starts and ends, from the length at `at`."""
        require(at < limit, "DER: a length is missing.")
        length = self.data[at]
        body = at + 1
        if length >= 0x80:
            size = length & 0x7F
            require(size != 0, "DER: a length is indefinite.")
            require(size <= _MOST_LENGTH_BYTES, "DER: a length has too many bytes.")
            body += size
            require(body <= limit, "DER: a length is cut off.")
            require(self.data[at + 1] != 0, "DER: a length has a leading zero.")
            length = int.from_bytes(self.data[at + 1 : body], "big")
            require(length >= 0x80, "DER: a short length has the long form.")
        require(body + length <= limit, "DER: an element goes beyond the end.")
        return body, body + length


def read_der(data: bytes) -> Element:
    """The one element that the bytes are."""
    require(len(data) > 0, "DER: there is nothing.")
    element = _Reader(data).element(0, len(data), 1)
    require(element.end == len(data), "DER: something follows the end.")
    return element
