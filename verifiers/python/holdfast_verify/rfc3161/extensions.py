"""Extensions of certificates, lists of revoked certificates and tokens (RFC 5280, section 4.2)."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from ..outcome import Fails, require
from . import der
from .der import Element, read_der
from .values import Fields, boolean, elements, explicit, integer, oid

KEY_USAGE, SUBJECT_ALTERNATIVE_NAME, BASIC_CONSTRAINTS = "2.5.29.15", "2.5.29.17", "2.5.29.19"
CERTIFICATE_POLICIES, EXTENDED_KEY_USAGE, SUBJECT_KEY_IDENTIFIER = "2.5.29.32", "2.5.29.37", "2.5.29.14"
CRL_DISTRIBUTION_POINTS, ISSUING_DISTRIBUTION_POINT, REASON_CODE = "2.5.29.31", "2.5.29.28", "2.5.29.21"
TIME_STAMPING, ANY_EXTENDED_KEY_USAGE = "1.3.6.1.5.5.7.3.8", "2.5.29.37.0"
DIGITAL_SIGNATURE, NON_REPUDIATION, KEY_CERT_SIGN, CRL_SIGN = 0, 1, 5, 6
_MOST_KEY_USAGE_BITS = 16


class Extension(NamedTuple):
    """Whether whoever does not know it must refuse, and its value, which is DER by itself."""

    critical: bool
    value: bytes


Extensions = Dict[str, Extension]


def read_extensions(sequence: Element, what: str, tag: int = der.SEQUENCE) -> Extensions:
    """A list of extensions, none of them twice."""
    found: Extensions = {}
    for element in elements(sequence, tag, f"The extensions of {what}"):
        fields = Fields(element, der.SEQUENCE, f"An extension of {what}")
        name = oid(fields.take(der.OID))
        flag = fields.optional(der.BOOLEAN)
        value = fields.take(der.OCTET_STRING).content
        fields.end()
        require(name not in found, f"{what} has the extension {name} twice.")
        found[name] = Extension(flag is not None and boolean(flag), value)
    return found


def no_critical_but(extensions: Extensions, known: Tuple[str, ...]) -> bool:
    """Whether all critical extensions are known ones."""
    return all(name in known for name, extension in extensions.items() if extension.critical)


class BasicConstraints(NamedTuple):
    """Whether a certificate is an authority's, and how many authorities may stand below it."""

    is_authority: bool
    path_length: Optional[int]


def basic_constraints(value: bytes) -> BasicConstraints:
    """The value of the extension."""
    fields = Fields(read_der(value), der.SEQUENCE, "The basic constraints")
    flag = fields.optional(der.BOOLEAN)
    length = fields.optional(der.INTEGER)
    fields.end()
    path_length = None if length is None else integer(length)
    require(path_length is None or path_length >= 0, "The path length of the basic constraints is negative.")
    require(path_length is None or path_length < 2**31, "The path length of the basic constraints is out of range.")
    return BasicConstraints(flag is not None and boolean(flag), path_length)


def key_usage(value: bytes) -> List[int]:
    """The bits that are set, 0 being the first."""
    element = read_der(value)
    require(element.tag == der.BIT_STRING, "The key usage is not a BIT STRING.")
    unused, bits = element.content[0], element.content[1:]
    require(8 * len(bits) - unused <= _MOST_KEY_USAGE_BITS, "The key usage has more than 16 bits.")
    return [bit for bit in range(8 * len(bits)) if bits[bit // 8] & (0x80 >> bit % 8)]


def extended_key_usage(value: bytes) -> List[str]:
    """The purposes."""
    purposes = elements(read_der(value), der.SEQUENCE, "The extended key usage")
    require(all(purpose.tag == der.OID for purpose in purposes), "A purpose is not an OBJECT IDENTIFIER.")
    return [oid(purpose) for purpose in purposes]


def general_names(value: bytes) -> List[bytes]:
    """Names such as those of the subject alternative name, each by its bytes. What cannot be read has no names."""
    try:
        return [name.encoded for name in elements(read_der(value), der.SEQUENCE, "A list of names")]
    except Fails:
        return []


def full_names(point: Element) -> Optional[List[bytes]]:
    """The full names of a distribution point's name, each by its bytes; None if it has a relative one."""
    name = explicit(point, "The name of a distribution point")
    require(name.tag in (der.context(0), der.context(1)), "The name of a distribution point is of another type.")
    return [each.encoded for each in name.children] if name.tag == der.context(0) else None
