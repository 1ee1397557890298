"""Public keys, and whether they made a signature (section "rfc3161", step 3)."""

import hashlib
from typing import NamedTuple, Union

from ..crypto import ecdsa, rsa
from ..crypto.curve import P256, P384, Curve, Point
from ..outcome import require
from . import der
from .algorithms import ECDSA, PSS, RSA, RSA_ENCRYPTION, Scheme, read_algorithm
from .der import Element, read_der
from .values import Fields, integer, oid, whole_bytes

_EC_PUBLIC_KEY = "1.2.840.10045.2.1"
_CURVES = {"1.2.840.10045.3.1.7": P256, "1.3.132.0.34": P384}


class EcKey(NamedTuple):
    """A point on a curve."""

    curve: Curve
    point: Point


Key = Union[rsa.RsaKey, EcKey]


def _rsa_key(data: bytes) -> rsa.RsaKey:
    fields = Fields(read_der(data), der.SEQUENCE, "An RSA key")
    n, e = integer(fields.take(der.INTEGER)), integer(fields.take(der.INTEGER))
    fields.end()
    require(n > 0, "The modulus of an RSA key is not positive.")
    require(n % 2 == 1, "The modulus of an RSA key is even.")
    require(n.bit_length() >= 2048, "An RSA key has fewer than 2,048 bits.")
    require(n.bit_length() <= 8192, "An RSA key has more than 8,192 bits.")
    require(e % 2 == 1, "The exponent of an RSA key is even.")
    require(3 <= e <= 2**31 - 1, "The exponent of an RSA key is out of range.")
    return rsa.RsaKey(n, e)


def _ec_key(curve: Curve, data: bytes) -> EcKey:
    require(len(data) == 1 + 2 * curve.size and data[0] == 4, "A key is not an uncompressed point.")
    point = int.from_bytes(data[1 : 1 + curve.size], "big"), int.from_bytes(data[1 + curve.size :], "big")
    require(curve.contains(point), "A key is not on its curve.")
    return EcKey(curve, point)


def read_key(element: Element) -> Key:
    """A SubjectPublicKeyInfo. Raises `Fails` for kinds of keys that are not supported."""
    fields = Fields(element, der.SEQUENCE, "A public key")
    algorithm = read_algorithm(fields.take(der.SEQUENCE), "The algorithm of a key")
    data = whole_bytes(fields.take(der.BIT_STRING), "A public key")
    fields.end()
    parameters = algorithm.parameters
    if algorithm.oid == RSA_ENCRYPTION:
        require(parameters is not None and parameters.tag == der.NULL, "The algorithm of an RSA key has no NULL.")
        return _rsa_key(data)
    require(algorithm.oid == _EC_PUBLIC_KEY, "A key is neither RSA nor of an elliptic curve.")
    curve = _CURVES.get(oid(parameters)) if parameters is not None and parameters.tag == der.OID else None
    require(curve is not None, "A key is on neither P-256 nor P-384.")
    assert curve is not None
    return _ec_key(curve, data)


def _ecdsa_number(element: Element, curve: Curve) -> int:
    number = integer(element)
    require(number >= 0, "A number of an ECDSA signature is negative.")
    require(number.bit_length() <= 8 * curve.size, "A number of an ECDSA signature is too long.")
    return number


def check_signature(scheme: Scheme, key: Key, message: bytes, signature: bytes, what: str) -> None:
    """The signature of the message is by the key."""
    if isinstance(key, EcKey):
        require(scheme.kind == ECDSA, f"{what} is by an algorithm for another kind of key.")
        fields = Fields(read_der(signature), der.SEQUENCE, "An ECDSA signature")
        r, s = _ecdsa_number(fields.take(der.INTEGER), key.curve), _ecdsa_number(fields.take(der.INTEGER), key.curve)
        fields.end()
        holds = ecdsa.verifies(key.curve, key.point, hashlib.new(scheme.hash, message).digest(), r, s)
    else:
        require(scheme.kind in (RSA, PSS), f"{what} is by an algorithm for another kind of key.")
        if scheme.kind == RSA:
            holds = rsa.verifies_pkcs1(key, scheme.hash, message, signature)
        else:
            holds = rsa.verifies_pss(key, scheme.hash, scheme.salt_length, message, signature)
    require(holds, f"{what} does not fit the key.")
