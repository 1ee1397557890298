"""ECDSA verification by FIPS 186 (section "rfc3161", step 3)."""

from .curve import Curve, Point, combine


def verifies(curve: Curve, key: Point, digest: bytes, r: int, s: int) -> bool:
    """Whether the two numbers are a signature of the digest, of which the leftmost bits count, by the key."""
    n = curve.n
    if not (0 < r < n and 0 < s < n):
        return False
    number = int.from_bytes(digest, "big") >> max(0, 8 * len(digest) - n.bit_length())
    inverse = pow(s, -1, n)
    point = combine(curve, number * inverse % n, curve.generator, r * inverse % n, key)
    return point is not None and point[0] % n == r
