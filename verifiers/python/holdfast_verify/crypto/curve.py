"""Arithmetic on elliptic curves y² = x³ + ax + b over a prime field: secp256k1 for seals, P-256 and P-384 for timestamps."""

from typing import NamedTuple, Optional, Tuple

Point = Tuple[int, int]
_Jacobian = Tuple[int, int, int]
_INFINITY: _Jacobian = (1, 1, 0)


class Curve(NamedTuple):
    """The field's prime p, the coefficients a and b, the order n of the generator."""

    p: int
    a: int
    b: int
    n: int
    generator: Point

    @property
    def size(self) -> int:
        """The bytes of a coordinate."""
        return (self.p.bit_length() + 7) // 8

    def contains(self, point: Point) -> bool:
        """Whether the coordinates are in the field and satisfy the equation."""
        x, y = point
        return x < self.p and y < self.p and (y * y - (x * x * x + self.a * x + self.b)) % self.p == 0


SECP256K1 = Curve(
    p=2**256 - 2**32 - 977,
    a=0,
    b=7,
    n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
    generator=(
        0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
        0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
    ),
)
P256 = Curve(
    p=2**256 - 2**224 + 2**192 + 2**96 - 1,
    a=-3,
    b=0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B,
    n=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    generator=(
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
)
P384 = Curve(
    p=2**384 - 2**128 - 2**96 + 2**32 - 1,
    a=-3,
    b=0xB3312FA7E23EE7E4988E056BE3F82D19181D9C6EFE8141120314088F5013875AC656398D8A2ED19D2A85C8EDD3EC2AEF,
    n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    generator=(
        0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
        0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
    ),
)


def _double(curve: Curve, point: _Jacobian) -> _Jacobian:
    p = curve.p
    x, y, z = point
    if z == 0 or y == 0:
        return _INFINITY
    yy = y * y % p
    s = 4 * x * yy % p
    zz = z * z % p
    m = (3 * x * x + curve.a * zz * zz) % p
    new_x = (m * m - 2 * s) % p
    return new_x, (m * (s - new_x) - 8 * yy * yy) % p, 2 * y * z % p


def _add(curve: Curve, left: _Jacobian, right: _Jacobian) -> _Jacobian:
    p = curve.p
    x1, y1, z1 = left
    x2, y2, z2 = right
    if z1 == 0:
        return right
    if z2 == 0:
        return left
    z1z1, z2z2 = z1 * z1 % p, z2 * z2 % p
    u1, u2 = x1 * z2z2 % p, x2 * z1z1 % p
    s1, s2 = y1 * z2 * z2z2 % p, y2 * z1 * z1z1 % p
    h, r = (u2 - u1) % p, (s2 - s1) % p
    if h == 0:
        return _double(curve, left) if r == 0 else _INFINITY
    hh = h * h % p
    hhh = h * hh % p
    v = u1 * hh % p
    x3 = (r * r - hhh - 2 * v) % p
    return x3, (r * (v - x3) - s1 * hhh) % p, z1 * z2 * h % p


def combine(curve: Curve, u: int, left: Point, v: int, right: Point) -> Optional[Point]:
    """u · left + v · right, both at once; None for the point at infinity."""
    first: _Jacobian = (left[0], left[1], 1)
    second: _Jacobian = (right[0], right[1], 1)
    both = _add(curve, first, second)
    total = _INFINITY
    for bit in range(max(u.bit_length(), v.bit_length()) - 1, -1, -1):
        total = _double(curve, total)
        in_u, in_v = u >> bit & 1, v >> bit & 1
        if in_u and in_v:
            total = _add(curve, total, both)
        elif in_u:
            total = _add(curve, total, first)
        elif in_v:
            total = _add(curve, total, second)
    x, y, z = total
    if z == 0:
        return None
    inverse = pow(z, -1, curve.p)
    return x * inverse * inverse % curve.p, y * inverse * inverse * inverse % curve.p
