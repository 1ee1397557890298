"""Whether a certificate of the path was revoked (section "rfc3161", step 5)."""

import hashlib
from typing import FrozenSet, List, Union

from ..outcome import Fails, require
from . import der
from .certificate import Certificate
from .crl import Entry, RevocationList, Scope
from .der import read_der
from .evidence import Document
from .extensions import (
    CRL_DISTRIBUTION_POINTS,
    CRL_SIGN,
    ISSUING_DISTRIBUTION_POINT,
    REASON_CODE,
    full_names,
    no_critical_but,
)
from .path import Path
from .root import Root
from .values import Fields, elements

_TOKENS_BEFORE_REMAIN = (0, 3, 4, 5)


def _distribution_names(certificate: Certificate) -> List[bytes]:
    """The names of those distribution points of a certificate that have neither reasons nor an issuer."""
    if CRL_DISTRIBUTION_POINTS not in certificate.extensions:
        return []
    names: List[bytes] = []
    points = read_der(certificate.extensions[CRL_DISTRIBUTION_POINTS].value)
    for element in elements(points, der.SEQUENCE, "The distribution points"):
        fields = Fields(element, der.SEQUENCE, "A distribution point")
        point = fields.optional(der.context(0))
        reasons = fields.optional(der.context(1, constructed=False))
        issuer = fields.optional(der.context(2))
        fields.end()
        if point is not None and reasons is None and issuer is None:
            names += full_names(point) or []
    return names


def _check_scope(scope: Scope, certificate: Certificate) -> None:
    """The list is whole and direct, and about this certificate."""
    require(not scope.some_reasons, "The list is about some reasons only.")
    require(not scope.indirect, "The list is indirect.")
    require(not scope.only_attributes, "The list is about attribute certificates.")
    require(not scope.relative_name, "The list is published under a relative name.")
    constraints = certificate.basic_constraints
    is_authority = constraints is not None and constraints.is_authority
    require(not (scope.only_user and is_authority), "The list is not about authorities.")
    require(not (scope.only_authorities and not is_authority), "The list is about authorities only.")
    if scope.names is not None:
        names = _distribution_names(certificate)
        require(any(name in names for name in scope.names), "The list is published elsewhere.")


def _check_counts(
    crl: RevocationList, certificate: Certificate, issuer: Union[Certificate, Root], gen_time: int, judged_at: int
) -> None:
    """The list counts for the certificate if its signature does. Raises `Fails` if not, which is no fault of the proof."""
    require(crl.issuer == certificate.issuer, "The list is of another issuer.")
    usage = issuer.key_usage if isinstance(issuer, Certificate) else None
    require(usage is None or CRL_SIGN in usage, "The issuer's key may not sign lists.")
    require(crl.this_update <= judged_at, "The list is later than the time of judgement.")
    require(crl.next_update is None or crl.next_update >= gen_time, "The list ended before the token.")
    known = no_critical_but(crl.extensions, (ISSUING_DISTRIBUTION_POINT,))
    require(known, "The list has a critical extension that nobody knows.")
    entries_known = all(no_critical_but(entry.extensions, (REASON_CODE,)) for entry in crl.entries)
    require(entries_known, "An entry has a critical extension that nobody knows.")
    if crl.scope is not None:
        _check_scope(crl.scope, certificate)


def _voids(entry: Entry, gen_time: int) -> bool:
    """Whether an entry makes the token invalid. Tokens before a harmless revocation remain valid."""
    return not (entry.reason in _TOKENS_BEFORE_REMAIN and gen_time < entry.date)


def check_not_refused(path: Path, fingerprints: FrozenSet[bytes]) -> None:
    """Fails if whoever verifies has named a certificate of the path, or its root, as revoked."""
    refused = path.root.fingerprint in fingerprints or any(
        hashlib.sha256(certificate.encoded).digest() in fingerprints for certificate in path.certificates
    )
    require(not refused, "The trust file names a certificate of the path as revoked.")


def check_revocation(
    path: Path, lists: List[RevocationList], gen_time: int, judged_at: int, document: Document
) -> bool:
    """Fails if a certificate of the path was revoked. Returns whether there was a list for every one."""
    all_checked = True
    issuers: List[Union[Certificate, Root]] = [*path.certificates[1:], path.root]
    for certificate, issuer in zip(path.certificates, issuers):
        counted = False
        for crl in lists:
            try:
                _check_counts(crl, certificate, issuer, gen_time, judged_at)
                require(document.is_signed(crl, issuer.public_key), "A list is not signed by the issuer's key.")
            except Fails:
                continue
            counted = True
            revoked = any(entry.serial == certificate.serial and _voids(entry, gen_time) for entry in crl.entries)
            require(not revoked, f"The certificate of {certificate.subject_text()} was revoked.")
        all_checked = all_checked and counted
    return all_checked
