"""ESS attributes: which certificate signed, by its hash (RFC 2634 and RFC 5035; section "rfc3161", The token)."""

import hashlib
from typing import List, NamedTuple, Optional, Tuple

from ..outcome import require
from . import der
from .algorithms import hash_of, read_algorithm
from .certificate import Certificate
from .der import Element
from .values import Fields, elements, explicit

SIGNING_CERTIFICATE, SIGNING_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.12", "1.2.840.113549.1.9.16.2.47"
_MOST_IDENTIFIERS = 16


class Identifier(NamedTuple):
    """A certificate by its hash, and by issuer and serial number if they are given."""

    hash: str
    digest: bytes
    issuer_and_serial: Optional[Tuple[bytes, bytes]]

    def identifies(self, certificate: Certificate) -> bool:
        """Whether this is that certificate."""
        if hashlib.new(self.hash, certificate.encoded, usedforsecurity=False).digest() != self.digest:
            return False
        return self.issuer_and_serial in (None, (certificate.issuer, certificate.serial))


def _issuer_and_serial(element: Element) -> Tuple[bytes, bytes]:
    fields = Fields(element, der.SEQUENCE, "The issuer and serial number in an ESS attribute")
    names = elements(fields.take(der.SEQUENCE), der.SEQUENCE, "The issuer in an ESS attribute")
    serial = fields.take(der.INTEGER).content
    fields.end()
    directory_name = der.context(4)
    require(len(names) == 1 and names[0].tag == directory_name, "The issuer in an ESS attribute is not one directoryName.")
    name = explicit(names[0], "The issuer in an ESS attribute")
    require(name.tag == der.SEQUENCE, "The issuer in an ESS attribute is not a name.")
    return name.encoded, serial


def _identifier(element: Element, is_v2: bool) -> Identifier:
    fields = Fields(element, der.SEQUENCE, "An identifier in an ESS attribute")
    name = "sha256" if is_v2 else "sha1"
    algorithm = fields.optional(der.SEQUENCE) if is_v2 else None
    if algorithm is not None:
        name = hash_of(read_algorithm(algorithm, "The hash in an ESS attribute"), "The hash in an ESS attribute")
    digest = fields.take(der.OCTET_STRING).content
    place = fields.optional(der.SEQUENCE)
    fields.end()
    return Identifier(name, digest, None if place is None else _issuer_and_serial(place))


def read_identifiers(value: Element, is_v2: bool) -> List[Identifier]:
    """The identifiers of signing-certificate or signing-certificate-v2, 1 to 16."""
    fields = Fields(value, der.SEQUENCE, "An ESS attribute")
    listed = elements(fields.take(der.SEQUENCE), der.SEQUENCE, "The identifiers in an ESS attribute")
    fields.optional(der.SEQUENCE)
    fields.end()
    require(len(listed) >= 1, "An ESS attribute identifies no certificate.")
    require(len(listed) <= _MOST_IDENTIFIERS, f"An ESS attribute has more than {_MOST_IDENTIFIERS} identifiers.")
    return [_identifier(element, is_v2) for element in listed]
