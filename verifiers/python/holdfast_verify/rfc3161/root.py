"""Trusted roots of timestamp authorities (section "Trust")."""

import hashlib
from typing import NamedTuple

from .certificate import Certificate
from .der import Element


class Root(NamedTuple):
    """A trust anchor: of its certificate only name, key and validity count."""

    subject: bytes
    public_key: Element
    not_before: int
    not_after: int
    name: str
    fingerprint: bytes


def root_from(certificate: Certificate) -> Root:
    """A certificate as a trust anchor."""
    fingerprint = hashlib.sha256(certificate.encoded).digest()
    validity = certificate.not_before, certificate.not_after
    return Root(certificate.subject, certificate.public_key, *validity, certificate.subject_text(), fingerprint)
