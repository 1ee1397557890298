"""The token: a SignedData with one signer (RFC 5652; section "rfc3161", The token)."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ..outcome import Fails, require
from . import der, ess
from .algorithms import Algorithm, hash_of, read_algorithm
from .certificate import Certificate, certificate_from
from .der import Element, read_der
from .values import Fields, elements, explicit, integer, oid

_SIGNED_DATA, _TSTINFO = "1.2.840.113549.1.7.2", "1.2.840.113549.1.9.16.1.4"
_CONTENT_TYPE, _MESSAGE_DIGEST = "1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4"


class Signer(NamedTuple):
    """The SignerInfo: whom it names, what was signed, and how. Either issuer and serial, or the key identifier is there."""

    issuer_and_serial: Optional[Tuple[bytes, bytes]]
    key_identifier: bytes
    hash: str
    message_digest: bytes
    ess_attributes: List[List[ess.Identifier]]
    signed: bytes
    algorithm: Algorithm
    signature: bytes


class Token(NamedTuple):
    """A timestamp token, read but not judged. `content` is the DER of the TSTInfo."""

    content: bytes
    certificates: List[Certificate]
    signer: Signer


def _attributes(element: Element) -> Dict[str, List[Element]]:
    """The signed attributes by their type, none twice."""
    found: Dict[str, List[Element]] = {}
    for attribute in element.children:
        fields = Fields(attribute, der.SEQUENCE, "An attribute")
        name = oid(fields.take(der.OID))
        values = fields.take(der.SET).children
        fields.end()
        require(name not in found, f"The attribute {name} occurs twice.")
        found[name] = values
    return found


def _only_value(attributes: Dict[str, List[Element]], name: str, tag: int, what: str) -> Element:
    values = attributes.get(name, [])
    require(len(values) == 1, f"The attribute {what} has not one value.")
    require(values[0].tag == tag, f"The attribute {what} is of another type.")
    return values[0]


def _signer(element: Element, digest_algorithms: List[str]) -> Signer:
    fields = Fields(element, der.SEQUENCE, "The SignerInfo")
    version = integer(fields.take(der.INTEGER))
    key = fields.optional(der.context(0, constructed=False))
    issuer_and_serial = None
    if key is None:
        place = Fields(fields.take(der.SEQUENCE), der.SEQUENCE, "The name of the signer")
        issuer_and_serial = place.take(der.SEQUENCE).encoded, place.take(der.INTEGER).content
        place.end()
    require(version == (1 if key is None else 3), "The SignerInfo is of another version than its name demands.")
    algorithm = read_algorithm(fields.take(der.SEQUENCE), "The hash of the signer")
    name = hash_of(algorithm, "The hash of the signer")
    require(algorithm.oid in digest_algorithms, "The hash of the signer is not among those of the SignedData.")
    attributes = fields.take(der.context(0))
    signature_algorithm = read_algorithm(fields.take(der.SEQUENCE), "The algorithm of the signature")
    signature = fields.take(der.OCTET_STRING).content
    fields.optional(der.context(1))
    fields.end()

    found = _attributes(attributes)
    content_type = _only_value(found, _CONTENT_TYPE, der.OID, "content-type")
    require(oid(content_type) == _TSTINFO, "The attribute content-type is not TSTInfo.")
    message_digest = _only_value(found, _MESSAGE_DIGEST, der.OCTET_STRING, "message-digest").content
    ess_attributes = [
        ess.read_identifiers(_only_value(found, kind, der.SEQUENCE, "signing-certificate"), is_v2)
        for kind, is_v2 in ((ess.SIGNING_CERTIFICATE, False), (ess.SIGNING_CERTIFICATE_V2, True))
        if kind in found
    ]
    require(len(ess_attributes) > 0, "There is no attribute signing-certificate.")
    signed = bytes([der.SET]) + attributes.encoded[1:]
    return Signer(
        issuer_and_serial,
        b"" if key is None else key.content,
        name,
        message_digest,
        ess_attributes,
        signed,
        signature_algorithm,
        signature,
    )


def read_token(data: bytes) -> Token:
    """A token from its DER."""
    outer = Fields(read_der(data), der.SEQUENCE, "The token")
    require(oid(outer.take(der.OID)) == _SIGNED_DATA, "The token is not SignedData.")
    signed_data = explicit(outer.take(der.context(0)), "The token")
    outer.end()

    fields = Fields(signed_data, der.SEQUENCE, "The SignedData")
    require(integer(fields.take(der.INTEGER)) == 3, "The SignedData is not of version 3.")
    listed = elements(fields.take(der.SET), der.SET, "The digest algorithms")
    algorithms = [read_algorithm(each, "A digest algorithm") for each in listed]
    digest_algorithms = [each.oid for each in algorithms if each.without_parameters()]
    encapsulated = Fields(fields.take(der.SEQUENCE), der.SEQUENCE, "The content of the token")
    require(oid(encapsulated.take(der.OID)) == _TSTINFO, "The content of the token is not a TSTInfo.")
    content = explicit(encapsulated.take(der.context(0)), "The content of the token")
    require(content.tag == der.OCTET_STRING, "The content of the token is not an OCTET STRING.")
    encapsulated.end()
    enclosed = fields.optional(der.context(0))
    certificates = [] if enclosed is None else [certificate_from(each) for each in enclosed.children]
    fields.optional(der.context(1))
    signers = elements(fields.take(der.SET), der.SET, "The signers")
    fields.end()
    if len(signers) != 1:
        raise Fails("The token has not exactly one signer.")
    return Token(content.content, certificates, _signer(signers[0], digest_algorithms))
