"""Keccak-256 as Ethereum uses it: the original padding 0x01, not that of SHA3-256 (section "Leaf")."""

from typing import List

_RATE = 136
_MASK = (1 << 64) - 1


def _round_constants() -> List[int]:
    """The 24 constants of the step iota, from the shift register of the standard."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            if register & 1:
                constant |= 1 << ((1 << bit) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


def _moves() -> List[List[int]]:
    """The steps rho and pi: lane `source` is rotated by `shift` and becomes lane `target`. Lane x, y is at x + 5 y."""
    moves, x, y = [[0, 0, 0]], 1, 0
    for step in range(24):
        target_x, target_y = y, (2 * x + 3 * y) % 5
        moves.append([x + 5 * y, (step + 1) * (step + 2) // 2 % 64, target_x + 5 * target_y])
        x, y = target_x, target_y
    return moves


_ROUND_CONSTANTS = _round_constants()
_MOVES = [tuple(move) for move in _moves()]


def _permute(lanes: List[int]) -> None:
    """Keccak-f[1600], in place."""
    moved = [0] * 25
    for constant in _ROUND_CONSTANTS:
        a, b, c, d, e = (lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5))
        parity = (
            e ^ ((b << 1 | b >> 63) & _MASK),
            a ^ ((c << 1 | c >> 63) & _MASK),
            b ^ ((d << 1 | d >> 63) & _MASK),
            c ^ ((e << 1 | e >> 63) & _MASK),
            d ^ ((a << 1 | a >> 63) & _MASK),
        )
        for source, shift, target in _MOVES:
            lane = lanes[source] ^ parity[source % 5]
            moved[target] = (lane << shift | lane >> (64 - shift)) & _MASK
        for y in (0, 5, 10, 15, 20):
            a, b, c, d, e = moved[y : y + 5]
            lanes[y] = a ^ (~b & c)
            lanes[y + 1] = b ^ (~c & d)
            lanes[y + 2] = c ^ (~d & e)
            lanes[y + 3] = d ^ (~e & a)
            lanes[y + 4] = e ^ (~a & b)
        lanes[0] ^= constant


def keccak256(data: bytes) -> bytes:
    """The 32 bytes of the hash."""
    padding = _RATE - len(data) % _RATE
    padded = data + (b"\x81" if padding == 1 else b"\x01" + bytes(padding - 2) + b"\x80")
    lanes = [0] * 25
    for start in range(0, len(padded), _RATE):
        for lane in range(_RATE // 8):
            lanes[lane] ^= int.from_bytes(padded[start + 8 * lane : start + 8 * lane + 8], "little")
        _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
