"""The signer of a signature by secp256k1, as Ethereum recovers it (section "Seal")."""

from typing import Optional

from .curve import SECP256K1, combine
from .keccak import keccak256

HALF_ORDER = SECP256K1.n // 2


def recover_address(digest: bytes, r: int, s: int, odd: bool) -> Optional[bytes]:
    """The 20 bytes of the address whose key signed the digest; None if no key did. `odd` is the parity of the point's y."""
    p, n = SECP256K1.p, SECP256K1.n
    if not (0 < r < n and 0 < s < n):
        return None
    square = (r * r * r + SECP256K1.b) % p
    y = pow(square, (p + 1) // 4, p)
    if y * y % p != square:
        return None
    if (y & 1) != odd:
        y = p - y
    inverse = pow(r, -1, n)
    key = combine(SECP256K1, -int.from_bytes(digest, "big") * inverse % n, SECP256K1.generator, s * inverse % n, (r, y))
    if key is None:
        return None
    return keccak256(key[0].to_bytes(32, "big") + key[1].to_bytes(32, "big"))[12:]
