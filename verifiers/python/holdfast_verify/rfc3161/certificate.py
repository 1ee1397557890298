"""Certificates, read as in RFC 5280 (section "rfc3161", Certificates)."""

from typing import List, NamedTuple, Optional

from ..outcome import require
from . import der
from .der import Element, read_der
from .extensions import (
    BASIC_CONSTRAINTS,
    CERTIFICATE_POLICIES,
    EXTENDED_KEY_USAGE,
    KEY_USAGE,
    SUBJECT_ALTERNATIVE_NAME,
    BasicConstraints,
    Extensions,
    basic_constraints,
    extended_key_usage,
    key_usage,
    no_critical_but,
    read_extensions,
)
from .names import name_text
from .values import Fields, explicit, integer, time, whole_bytes

_MOST_BYTES = 16_384
_UNDERSTOOD = (KEY_USAGE, SUBJECT_ALTERNATIVE_NAME, BASIC_CONSTRAINTS, CERTIFICATE_POLICIES, EXTENDED_KEY_USAGE)


class Certificate(NamedTuple):
    """A certificate. Names, numbers and algorithms are kept as their bytes, because they are compared as such."""

    encoded: bytes
    signed: bytes
    serial: bytes
    issuer: bytes
    subject: bytes
    not_before: int
    not_after: int
    public_key: Element
    algorithm: Element
    signature: bytes
    extensions: Extensions
    basic_constraints: Optional[BasicConstraints]
    key_usage: Optional[List[int]]
    extended_key_usage: Optional[List[str]]

    def valid_at(self, moment: int) -> bool:
        """Both ends are included."""
        return self.not_before <= moment <= self.not_after

    def no_unknown_critical_extension(self) -> bool:
        """Whether it has no critical extension but the five that are understood."""
        return no_critical_but(self.extensions, _UNDERSTOOD)

    def subject_text(self) -> str:
        """The subject for people."""
        return name_text(self.subject)


def read_certificate(data: bytes) -> Certificate:
    """A certificate from its DER."""
    return certificate_from(read_der(data))


def certificate_from(element: Element) -> Certificate:
    """A certificate that was read as part of something else."""
    require(element.end - element.start <= _MOST_BYTES, f"A certificate has more than {_MOST_BYTES} bytes.")
    outer = Fields(element, der.SEQUENCE, "A certificate")
    signed = outer.take(der.SEQUENCE)
    algorithm = outer.take(der.SEQUENCE)
    signature = whole_bytes(outer.take(der.BIT_STRING), "The signature of a certificate")
    outer.end()

    fields = Fields(signed, der.SEQUENCE, "A certificate")
    versioned = fields.optional(der.context(0))
    if versioned is not None:
        version = explicit(versioned, "The version of a certificate")
        require(version.tag == der.INTEGER, "The version of a certificate is not a number.")
        require(integer(version) in (1, 2), "The version of a certificate is neither 2 nor 3, or is the default 1.")
    serial = fields.take(der.INTEGER).content
    inner_algorithm = fields.take(der.SEQUENCE).encoded
    require(inner_algorithm == algorithm.encoded, "A certificate names two algorithms.")
    issuer = fields.take(der.SEQUENCE).encoded
    validity = Fields(fields.take(der.SEQUENCE), der.SEQUENCE, "The validity of a certificate")
    not_before = time(validity.take(der.UTC_TIME, der.GENERALIZED_TIME), "The beginning of a certificate")
    not_after = time(validity.take(der.UTC_TIME, der.GENERALIZED_TIME), "The end of a certificate")
    validity.end()
    subject = fields.take(der.SEQUENCE).encoded
    public_key = fields.take(der.SEQUENCE)
    for unique_id in (1, 2):
        fields.optional(der.context(unique_id, constructed=False))
    wrapped = fields.optional(der.context(3))
    fields.end()
    extensions: Extensions = {}
    if wrapped is not None:
        extensions = read_extensions(explicit(wrapped, "The extensions of a certificate"), "a certificate")

    def value(name: str) -> Optional[bytes]:
        return extensions[name].value if name in extensions else None

    constraints, usage, purposes = value(BASIC_CONSTRAINTS), value(KEY_USAGE), value(EXTENDED_KEY_USAGE)
    return Certificate(
        encoded=element.encoded,
        signed=signed.encoded,
        serial=serial,
        issuer=issuer,
        subject=subject,
        not_before=not_before,
        not_after=not_after,
        public_key=public_key,
        algorithm=algorithm,
        signature=signature,
        extensions=extensions,
        basic_constraints=None if constraints is None else basic_constraints(constraints),
        key_usage=None if usage is None else key_usage(usage),
        extended_key_usage=None if purposes is None else extended_key_usage(purposes),
    )
