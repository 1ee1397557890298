"""Lists of revoked certificates, read as in RFC 5280 (section "rfc3161", Certificates and lists)."""

from typing import List, NamedTuple, Optional

from ..outcome import require
from . import der
from .der import Element, read_der
from .extensions import ISSUING_DISTRIBUTION_POINT, REASON_CODE, Extensions, full_names, read_extensions
from .values import Fields, boolean, explicit, integer, time, whole_bytes


class Scope(NamedTuple):
    """An issuing distribution point: what a list is about. `names` is None if it has none."""

    names: Optional[List[bytes]]
    relative_name: bool
    only_user: bool
    only_authorities: bool
    some_reasons: bool
    indirect: bool
    only_attributes: bool


class Entry(NamedTuple):
    """A revoked certificate. `reason` is None if none is given."""

    serial: bytes
    date: int
    reason: Optional[int]
    extensions: Extensions


class RevocationList(NamedTuple):
    """A list of revoked certificates."""

    encoded: bytes
    signed: bytes
    issuer: bytes
    this_update: int
    next_update: Optional[int]
    entries: List[Entry]
    extensions: Extensions
    scope: Optional[Scope]
    algorithm: Element
    signature: bytes


def _scope(value: bytes) -> Scope:
    fields = Fields(read_der(value), der.SEQUENCE, "An issuing distribution point")
    point = fields.optional(der.context(0))
    names = None if point is None else full_names(point)

    def flag(number: int) -> bool:
        element = fields.optional(der.context(number, constructed=False))
        return element is not None and boolean(element)

    only_user, only_authorities = flag(1), flag(2)
    reasons = fields.optional(der.context(3, constructed=False))
    if reasons is not None:
        der.check_bit_string(reasons.content)
    indirect, only_attributes = flag(4), flag(5)
    fields.end()
    relative_name = point is not None and names is None
    return Scope(names, relative_name, only_user, only_authorities, reasons is not None, indirect, only_attributes)


def _reason(value: bytes) -> int:
    element = read_der(value)
    require(element.tag == der.ENUMERATED, "A reason is not an ENUMERATED.")
    reason = integer(element)
    require(0 <= reason < 2**31, "A reason is out of range.")
    return reason


def _entry(element: Element) -> Entry:
    fields = Fields(element, der.SEQUENCE, "An entry of a list of revoked certificates")
    serial = fields.take(der.INTEGER).content
    date = time(fields.take(der.UTC_TIME, der.GENERALIZED_TIME), "The date of a revocation")
    listed = fields.optional(der.SEQUENCE)
    fields.end()
    extensions = {} if listed is None else read_extensions(listed, "an entry of a list of revoked certificates")
    reason = _reason(extensions[REASON_CODE].value) if REASON_CODE in extensions else None
    return Entry(serial, date, reason, extensions)


def read_list(data: bytes) -> RevocationList:
    """A CertificateList from its DER."""
    outer = Fields(read_der(data), der.SEQUENCE, "A list of revoked certificates")
    signed = outer.take(der.SEQUENCE)
    algorithm = outer.take(der.SEQUENCE)
    signature = whole_bytes(outer.take(der.BIT_STRING), "The signature of a list")
    outer.end()

    fields = Fields(signed, der.SEQUENCE, "A list of revoked certificates")
    version = fields.optional(der.INTEGER)
    require(version is None or integer(version) == 1, "The version of a list is not 2, or is the default 1.")
    require(fields.take(der.SEQUENCE).encoded == algorithm.encoded, "A list names two algorithms.")
    issuer = fields.take(der.SEQUENCE).encoded
    this_update = time(fields.take(der.UTC_TIME, der.GENERALIZED_TIME), "The time of a list")
    following = fields.optional(der.UTC_TIME, der.GENERALIZED_TIME)
    next_update = None if following is None else time(following, "The end of a list")
    revoked = fields.optional(der.SEQUENCE)
    entries = [] if revoked is None else [_entry(element) for element in revoked.children]
    wrapped = fields.optional(der.context(0))
    fields.end()
    extensions: Extensions = {}
    if wrapped is not None:
        extensions = read_extensions(explicit(wrapped, "The extensions of a list"), "a list of revoked certificates")
    point = extensions.get(ISSUING_DISTRIBUTION_POINT)
    scope = None if point is None else _scope(point.value)
    return RevocationList(
        data, signed.encoded, issuer, this_update, next_update, entries, extensions, scope, algorithm, signature
    )
