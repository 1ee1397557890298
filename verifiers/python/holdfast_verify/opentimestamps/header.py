"""A Bitcoin block's header: its hash, and the work that it demands (section "opentimestamps")."""

import hashlib
from typing import NamedTuple


class Header(NamedTuple):
    """`time` is in seconds since 1970. `hash` is as it is written, with its bytes reversed."""

    merkle_root: bytes
    time: int
    bits: int
    hash: bytes

    def has_work(self) -> bool:
        """Whether the hash does not exceed the target."""
        exponent, mantissa = self.bits >> 24, self.bits & 0x7FFFFF
        target = mantissa << 8 * (exponent - 3) if exponent >= 3 else mantissa >> 8 * (3 - exponent)
        if self.bits & 0x800000 or target >= 2**256:
            return False
        return int.from_bytes(self.hash, "big") <= target


def read_header(data: bytes) -> Header:
    """The 80 bytes of a header."""
    twice = hashlib.sha256(hashlib.sha256(data).digest()).digest()
    time, bits = int.from_bytes(data[68:72], "little"), int.from_bytes(data[72:76], "little")
    return Header(data[36:68], time, bits, twice[::-1])
