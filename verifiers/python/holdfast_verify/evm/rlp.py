"""RLP, read strictly: every value has one encoding, and every item is read (section "evm", inclusion)."""

from typing import List, Tuple, Union

from ..outcome import Fails, require

Item = Union[bytes, List["Item"]]  # type: ignore[misc]
MOST_LEVELS = 4
_MOST_INTEGER = 2**53 - 1


def _payload(data: bytes, at: int, end: int, short: int) -> Tuple[int, int]:
    """Where the content of an item with a prefix starts and ends. `short` is 0x80 for bytes, 0xc0 for a list."""
    length = data[at] - short
    start = at + 1
    if length > 55:
        size = length - 55
        start += size
        require(start <= end, "RLP: a length is cut off.")
        require(data[at + 1] != 0, "RLP: a length has a leading zero.")
        length = int.from_bytes(data[at + 1 : start], "big")
        require(length > 55, "RLP: a short item has the long form.")
    require(start + length <= end, "RLP: an item goes beyond its list.")
    return start, start + length


def _item(data: bytes, at: int, end: int, level: int) -> Tuple[Item, int]:
    """The item that starts at `at`, and where it ends."""
    prefix = data[at]
    if prefix < 0x80:
        return data[at : at + 1], at + 1
    if prefix < 0xC0:
        start, stop = _payload(data, at, end, 0x80)
        require(stop - start != 1 or data[start] >= 0x80, "RLP: a byte that stands for itself has a prefix.")
        return data[start:stop], stop
    require(level < MOST_LEVELS, f"RLP: lists are more than {MOST_LEVELS} deep.")
    start, stop = _payload(data, at, end, 0xC0)
    items: List[Item] = []
    while start < stop:
        item, start = _item(data, start, stop, level + 1)
        items.append(item)
    return items, stop


def decode(data: bytes) -> Item:
    """The one item that the bytes are."""
    require(len(data) > 0, "RLP: there is nothing.")
    item, end = _item(data, 0, len(data), 0)
    require(end == len(data), "RLP: something follows the end.")
    return item


def as_list(item: Item, what: str) -> List[Item]:
    """An item that must be a list."""
    if not isinstance(item, list):
        raise Fails(f"{what} is not a list.")
    return item


def as_bytes(item: Item, what: str) -> bytes:
    """An item that must be bytes."""
    if not isinstance(item, bytes):
        raise Fails(f"{what} is not bytes.")
    return item


def as_sized(item: Item, size: int, what: str) -> bytes:
    """An item that must be so many bytes."""
    data = as_bytes(item, what)
    require(len(data) == size, f"{what} has not {size} bytes.")
    return data


def as_integer(item: Item, what: str) -> int:
    """An item that must be an integer up to 2^53 − 1. Zero is the empty string."""
    data = as_bytes(item, what)
    require(data[:1] != b"\0", f"{what} has a leading zero.")
    value = int.from_bytes(data, "big")
    require(value <= _MOST_INTEGER, f"{what} is beyond 2^53 − 1.")
    return value


def encode_integer(value: int) -> bytes:
    """The RLP of an integer below 2^440: 0 is 80, 127 is 7f, 128 is 8180."""
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return data if len(data) == 1 and data[0] < 0x80 else bytes([0x80 + len(data)]) + data
