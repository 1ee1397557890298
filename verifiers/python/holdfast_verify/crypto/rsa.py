"""RSA verification by RFC 8017: PKCS #1 v1.5 and PSS (section "rfc3161", step 3)."""

import hashlib
from typing import NamedTuple, Optional

_DIGEST_INFO = {
    "sha256": bytes.fromhex("3031300d060960864801650304020105000420"),
    "sha384": bytes.fromhex("3041300d060960864801650304020205000430"),
    "sha512": bytes.fromhex("3051300d060960864801650304020305000440"),
}


class RsaKey(NamedTuple):
    """Modulus and exponent."""

    n: int
    e: int


def _open(key: RsaKey, signature: bytes) -> Optional[int]:
    """The number that was signed; None if the signature has not the length of the modulus, or exceeds it."""
    number = int.from_bytes(signature, "big")
    if len(signature) != (key.n.bit_length() + 7) // 8 or number >= key.n:
        return None
    return pow(number, key.e, key.n)


def verifies_pkcs1(key: RsaKey, hash_name: str, message: bytes, signature: bytes) -> bool:
    """RSASSA-PKCS1-v1_5: the whole encoded message is compared, so no byte of it is free."""
    opened = _open(key, signature)
    end = _DIGEST_INFO[hash_name] + hashlib.new(hash_name, message).digest()
    encoded = b"\x00\x01" + b"\xff" * (len(signature) - len(end) - 3) + b"\x00" + end
    return opened is not None and opened.to_bytes(len(signature), "big") == encoded


def _mask(hash_name: str, seed: bytes, length: int) -> bytes:
    """MGF1."""
    size = hashlib.new(hash_name).digest_size
    blocks = (hashlib.new(hash_name, seed + count.to_bytes(4, "big")).digest() for count in range(-(-length // size)))
    return b"".join(blocks)[:length]


def verifies_pss(key: RsaKey, hash_name: str, salt_length: int, message: bytes, signature: bytes) -> bool:
    """RSASSA-PSS with MGF1 by the same hash, and a salt of exactly that length."""
    digest = hashlib.new(hash_name, message).digest()
    bits = key.n.bit_length() - 1
    length = (bits + 7) // 8
    opened = _open(key, signature)
    if opened is None or opened.bit_length() > bits or length < len(digest) + salt_length + 2:
        return False
    encoded = opened.to_bytes(length, "big")
    masked, seal, trailer = encoded[: -len(digest) - 1], encoded[-len(digest) - 1 : -1], encoded[-1]
    block = int.from_bytes(masked, "big") ^ int.from_bytes(_mask(hash_name, seal, len(masked)), "big")
    block &= (1 << (bits - 8 * (len(digest) + 1))) - 1
    salt = block.to_bytes(len(masked), "big")[len(masked) - salt_length :]
    expected = (1 << 8 * salt_length) | int.from_bytes(salt, "big")
    return trailer == 0xBC and block == expected and hashlib.new(hash_name, bytes(8) + digest + salt).digest() == seal
