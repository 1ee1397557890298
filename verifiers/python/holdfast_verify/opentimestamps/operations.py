"""The operations of OpenTimestamps, and how long their results are (section "opentimestamps")."""

import hashlib
from typing import Callable, Dict, NamedTuple

from ..crypto.keccak import keccak256
from ..crypto.ripemd160 import ripemd160

SHA1, RIPEMD160, SHA256, KECCAK256, APPEND, PREPEND, REVERSE, HEXLIFY = 0x02, 0x03, 0x08, 0x67, 0xF0, 0xF1, 0xF2, 0xF3


def _sha1(data: bytes) -> bytes:
    return hashlib.new("sha1", data, usedforsecurity=False).digest()


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


class Hash(NamedTuple):
    """A hash function, and the length of its result."""

    size: int
    function: Callable[[bytes], bytes]


HASHES: Dict[int, Hash] = {
    SHA1: Hash(20, _sha1),
    RIPEMD160: Hash(20, ripemd160),
    SHA256: Hash(32, _sha256),
    KECCAK256: Hash(32, keccak256),
}


def result_length(tag: int, argument: bytes, length: int) -> int:
    """How long the result for a message of that length is."""
    if tag in HASHES:
        return HASHES[tag].size
    return 2 * length if tag == HEXLIFY else length + len(argument)


def apply(tag: int, argument: bytes, message: bytes) -> bytes:
    """The result."""
    if tag in HASHES:
        return HASHES[tag].function(message)
    if tag == APPEND:
        return message + argument
    if tag == PREPEND:
        return argument + message
    if tag == REVERSE:
        return message[::-1]
    return message.hex().encode("ascii")
