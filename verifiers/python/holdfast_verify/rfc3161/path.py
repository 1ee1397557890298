"""The path from the signer's certificate to a trusted root (section "rfc3161", step 4)."""

from typing import List, NamedTuple, Optional, Union

from ..outcome import Fails, Skips, require
from .certificate import Certificate
from .evidence import Document
from .extensions import ANY_EXTENDED_KEY_USAGE, KEY_CERT_SIGN, TIME_STAMPING
from .root import Root

_MOST_CERTIFICATES = 8


class Path(NamedTuple):
    """The certificates from the signer's upwards, and the root above them."""

    certificates: List[Certificate]
    root: Root


def _check_authority(issuer: Certificate, below: int, gen_time: int) -> None:
    """An issuer below the root may issue. `below` is how many authorities are between it and the signer."""
    constraints = issuer.basic_constraints
    if constraints is None or not constraints.is_authority:
        raise Fails("An issuer is not an authority by its basic constraints.")
    require(issuer.key_usage is None or KEY_CERT_SIGN in issuer.key_usage, "An issuer's key may not sign certificates.")
    purposes = issuer.extended_key_usage
    for_timestamps = purposes is None or TIME_STAMPING in purposes or ANY_EXTENDED_KEY_USAGE in purposes
    require(for_timestamps, "An issuer's certificate is for other purposes than timestamps.")
    require(constraints.path_length is None or below <= constraints.path_length, "A path is longer than an issuer allows.")
    require(issuer.no_unknown_critical_extension(), "An issuer has a critical extension that nobody knows.")
    require(issuer.valid_at(gen_time), "An issuer's certificate was not valid at the genTime.")


def _check_root(root: Root, gen_time: int) -> None:
    require(root.not_before <= gen_time <= root.not_after, "The root was not valid at the genTime.")


class _Search:
    """Breadth first, so that the shortest path comes first, and of equal ones the first."""

    def __init__(self, roots: List[Root], certificates: List[Certificate], gen_time: int, document: Document) -> None:
        self.roots, self.certificates, self.gen_time, self.document = roots, certificates, gen_time, document
        self.fault = "The path to a trusted root breaks a rule."

    def is_issued(self, certificate: Certificate, issuer: Union[Certificate, Root]) -> bool:
        """Whether the issuer has the right name, and its key signed the certificate."""
        return issuer.subject == certificate.issuer and self.document.is_signed(certificate, issuer.public_key)

    def permits(self, path: List[Certificate], issuer: Union[Certificate, Root]) -> bool:
        """Whether the rules allow that the issuer follows the path."""
        try:
            if isinstance(issuer, Root):
                _check_root(issuer, self.gen_time)
            else:
                _check_authority(issuer, len(path) - 1, self.gen_time)
        except Fails as fault:
            self.fault = str(fault)
            return False
        return True

    def run(self, signer: Certificate, strict: bool) -> Optional[Path]:
        """The first path; None if there is none. If not `strict`, only names and signatures count."""
        seen = {signer.encoded}
        level: List[List[Certificate]] = [[signer]]
        while level and len(level[0]) <= _MOST_CERTIFICATES:
            for path in level:
                for root in self.roots:
                    if self.is_issued(path[-1], root) and (not strict or self.permits(path, root)):
                        return Path(path, root)
            following: List[List[Certificate]] = []
            for path in level:
                for issuer in self.certificates:
                    if issuer.encoded in seen or not self.is_issued(path[-1], issuer):
                        continue
                    if not strict or self.permits(path, issuer):
                        seen.add(issuer.encoded)
                        following.append(path + [issuer])
            level = following
        return None


def find_path(
    signer: Certificate, roots: List[Root], certificates: List[Certificate], gen_time: int, document: Document
) -> Path:
    """The path that counts. Fails if only paths lead to a root that break a rule, skips if none does."""
    search = _Search(roots, certificates, gen_time, document)
    path = search.run(signer, strict=True)
    if path is not None:
        return path
    if search.run(signer, strict=False) is not None:
        raise Fails(search.fault)
    raise Skips(f"No path leads from {signer.subject_text()} to a trusted root.")
