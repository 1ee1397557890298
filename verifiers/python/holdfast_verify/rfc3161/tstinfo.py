"""The TSTInfo: what a timestamp authority states (RFC 3161, section 2.4.2; section "rfc3161", The TSTInfo)."""

from typing import NamedTuple, Optional

from ..outcome import require
from . import der
from .algorithms import Algorithm, read_algorithm
from .der import Element, read_der
from .extensions import read_extensions
from .values import Fields, explicit, integer, oid, time

_MOST_SECONDS = 2**31 - 1


class TstInfo(NamedTuple):
    """`gen_time` and `accuracy` are in milliseconds. `authority` is a GeneralName."""

    policy: str
    imprint_algorithm: Algorithm
    imprint: bytes
    gen_time: int
    accuracy: int
    authority: Optional[Element]


def _part(element: Optional[Element], what: str) -> int:
    """Milliseconds or microseconds of an accuracy; 0 if absent."""
    if element is None:
        return 0
    value = integer(element)
    require(1 <= value <= 999, f"The {what} of the accuracy are not 1 to 999.")
    return value


def _accuracy(element: Optional[Element]) -> int:
    """Rounded up to milliseconds; 0 if absent."""
    if element is None:
        return 0
    fields = Fields(element, der.SEQUENCE, "The accuracy")
    whole = fields.optional(der.INTEGER)
    seconds = 0 if whole is None else integer(whole)
    require(0 <= seconds <= _MOST_SECONDS, "The seconds of the accuracy are out of range.")
    millis = _part(fields.optional(der.context(0, constructed=False)), "milliseconds")
    micros = _part(fields.optional(der.context(1, constructed=False)), "microseconds")
    fields.end()
    return seconds * 1000 + millis + (1 if micros else 0)


def read_tstinfo(data: bytes) -> TstInfo:
    """A TSTInfo from its DER."""
    fields = Fields(read_der(data), der.SEQUENCE, "The TSTInfo")
    require(integer(fields.take(der.INTEGER)) == 1, "The TSTInfo is not of version 1.")
    policy = oid(fields.take(der.OID))
    imprint = Fields(fields.take(der.SEQUENCE), der.SEQUENCE, "The imprint")
    imprint_algorithm = read_algorithm(imprint.take(der.SEQUENCE), "The hash of the imprint")
    imprint_value = imprint.take(der.OCTET_STRING).content
    imprint.end()
    fields.take(der.INTEGER)
    gen_time = time(fields.take(der.GENERALIZED_TIME), "The genTime", fraction_allowed=True)
    accuracy = _accuracy(fields.optional(der.SEQUENCE))
    fields.optional(der.BOOLEAN)
    fields.optional(der.INTEGER)
    named = fields.optional(der.context(0))
    authority = None if named is None else explicit(named, "The authority of the TSTInfo")
    listed = fields.optional(der.context(1))
    fields.end()
    if listed is not None:
        extensions = read_extensions(listed, "the TSTInfo", der.context(1))
        require(not any(each.critical for each in extensions.values()), "The TSTInfo has a critical extension.")
    return TstInfo(policy, imprint_algorithm, imprint_value, gen_time, accuracy, authority)
