"""RIPEMD-160, one of the operations of OpenTimestamps. Python's own is missing where OpenSSL does not offer it."""

from typing import Sequence, Tuple

_MASK = 0xFFFFFFFF
_LEFT_ORDER = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
    (7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8),
    (3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12),
    (1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2),
    (4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13),
)
_RIGHT_ORDER = (
    (5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12),
    (6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2),
    (15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13),
    (8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14),
    (12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11),
)
_LEFT_SHIFTS = (
    (11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8),
    (7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12),
    (11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5),
    (11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12),
    (9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6),
)
_RIGHT_SHIFTS = (
    (8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6),
    (9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11),
    (9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5),
    (15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8),
    (8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11),
)
_LEFT_CONSTANTS = (0x00000000, 0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xA953FD4E)
_RIGHT_CONSTANTS = (0x50A28BE6, 0x5C4DD124, 0x6D703EF3, 0x7A6D76E9, 0x00000000)


def _mix(function: int, x: int, y: int, z: int) -> int:
    if function == 0:
        return x ^ y ^ z
    if function == 1:
        return (x & y) | (~x & z)
    if function == 2:
        return (x | ~y) ^ z
    if function == 3:
        return (x & z) | (y & ~z)
    return x ^ (y | ~z)


def _line(
    state: Sequence[int],
    words: Sequence[int],
    functions: Sequence[int],
    orders: Sequence[Sequence[int]],
    shifts: Sequence[Sequence[int]],
    constants: Sequence[int],
) -> Tuple[int, ...]:
    """One of the two parallel lines of 80 steps."""
    a, b, c, d, e = state
    for function, order, shift, constant in zip(functions, orders, shifts, constants):
        for word, by in zip(order, shift):
            total = (a + _mix(function, b, c, d) + words[word] + constant) & _MASK
            a, e, d, c, b = e, d, (c << 10 | c >> 22) & _MASK, b, ((total << by | total >> (32 - by)) + e) & _MASK
    return a, b, c, d, e


def ripemd160(data: bytes) -> bytes:
    """The 20 bytes of the hash."""
    padded = data + b"\x80" + bytes(-(len(data) + 9) % 64) + (8 * len(data)).to_bytes(8, "little")
    state: Tuple[int, ...] = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0)
    for start in range(0, len(padded), 64):
        words = [int.from_bytes(padded[at : at + 4], "little") for at in range(start, start + 64, 4)]
        left = _line(state, words, (0, 1, 2, 3, 4), _LEFT_ORDER, _LEFT_SHIFTS, _LEFT_CONSTANTS)
        right = _line(state, words, (4, 3, 2, 1, 0), _RIGHT_ORDER, _RIGHT_SHIFTS, _RIGHT_CONSTANTS)
        state = tuple((state[(i + 1) % 5] + left[(i + 2) % 5] + right[(i + 3) % 5]) & _MASK for i in range(5))
    return b"".join(word.to_bytes(4, "little") for word in state)
