"""Algorithm identifiers: hash functions, and ways to sign (section "rfc3161", steps 1 and 3)."""

from typing import NamedTuple, Optional

from ..outcome import Fails, require
from . import der
from .der import Element
from .values import Fields, explicit, integer, oid

HASHES = {
    "2.16.840.1.101.3.4.2.1": "sha256",
    "2.16.840.1.101.3.4.2.2": "sha384",
    "2.16.840.1.101.3.4.2.3": "sha512",
}
RSA, PSS, ECDSA = "RSA PKCS #1 v1.5", "RSASSA-PSS", "ECDSA"
RSA_ENCRYPTION = "1.2.840.113549.1.1.1"
_RSA_PSS = "1.2.840.113549.1.1.10"
_MGF1 = "1.2.840.113549.1.1.8"
_RSA_WITH = {
    "1.2.840.113549.1.1.11": "sha256",
    "1.2.840.113549.1.1.12": "sha384",
    "1.2.840.113549.1.1.13": "sha512",
}
_ECDSA_WITH = {
    "1.2.840.10045.4.3.2": "sha256",
    "1.2.840.10045.4.3.3": "sha384",
    "1.2.840.10045.4.3.4": "sha512",
}
_DEFAULT_SALT = 20


class Algorithm(NamedTuple):
    """An OBJECT IDENTIFIER with at most one parameter."""

    oid: str
    parameters: Optional[Element]
    encoded: bytes

    def without_parameters(self) -> bool:
        """Whether the parameters are absent or NULL."""
        return self.parameters is None or self.parameters.tag == der.NULL


class Scheme(NamedTuple):
    """A way to sign."""

    kind: str
    hash: str
    salt_length: int = 0


def read_algorithm(element: Element, what: str) -> Algorithm:
    """An AlgorithmIdentifier."""
    children = Fields(element, der.SEQUENCE, what)
    name = oid(children.take(der.OID))
    require(len(element.children) <= 2, f"{what} has more than one parameter.")
    parameters = element.children[1] if len(element.children) == 2 else None
    return Algorithm(name, parameters, element.encoded)


def hash_of(algorithm: Algorithm, what: str) -> str:
    """One of the three hash functions, with parameters absent or NULL."""
    require(algorithm.oid in HASHES, f"{what} is neither SHA-256 nor SHA-384 nor SHA-512.")
    require(algorithm.without_parameters(), f"{what} has parameters.")
    return HASHES[algorithm.oid]


def _pss(algorithm: Algorithm) -> Scheme:
    if algorithm.parameters is None:
        raise Fails("RSASSA-PSS without parameters means SHA-1.")
    fields = Fields(algorithm.parameters, der.SEQUENCE, "The parameters of RSASSA-PSS")
    named = explicit(fields.take(der.context(0)), "The hash of RSASSA-PSS")
    name = hash_of(read_algorithm(named, "The hash of RSASSA-PSS"), "The hash of RSASSA-PSS")
    mask = read_algorithm(explicit(fields.take(der.context(1)), "The mask of RSASSA-PSS"), "The mask of RSASSA-PSS")
    if mask.oid != _MGF1 or mask.parameters is None:
        raise Fails("The mask of RSASSA-PSS is not MGF1.")
    mask_hash = hash_of(read_algorithm(mask.parameters, "The hash of the mask"), "The hash of the mask")
    require(mask_hash == name, "The mask of RSASSA-PSS is by another hash.")
    salt = fields.optional(der.context(2))
    salt_length = _DEFAULT_SALT
    if salt is not None:
        length = explicit(salt, "The length of the salt")
        require(length.tag == der.INTEGER, "The length of the salt is not a number.")
        salt_length = integer(length)
    require(salt_length >= 0, "The length of the salt is negative.")
    fields.end()
    return Scheme(PSS, name, salt_length)


def signature_scheme(algorithm: Algorithm, signer_hash: Optional[str] = None) -> Scheme:
    """The way to sign. `signer_hash` is the SignerInfo's, which `rsaEncryption` needs; without one that does not count."""
    if algorithm.oid == RSA_ENCRYPTION or algorithm.oid in _RSA_WITH:
        require(algorithm.without_parameters(), "The algorithm of a signature has parameters.")
        name = _RSA_WITH.get(algorithm.oid, signer_hash)
        if name is None:
            raise Fails("The algorithm of a signature names no hash.")
        return Scheme(RSA, name)
    if algorithm.oid in _ECDSA_WITH:
        require(algorithm.parameters is None, "The algorithm of an ECDSA signature has parameters.")
        return Scheme(ECDSA, _ECDSA_WITH[algorithm.oid])
    require(algorithm.oid == _RSA_PSS, "The algorithm of a signature is not supported.")
    return _pss(algorithm)
