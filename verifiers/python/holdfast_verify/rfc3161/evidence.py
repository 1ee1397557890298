"""What the timestamp anchors of one document contain, and how many signatures they make a verifier check (section "rfc3161", Work)."""

from typing import Dict, List, NamedTuple, Set, Tuple, Union

from ..anchors_form import TimestampAnchor
from ..outcome import Fails, require
from .algorithms import read_algorithm, signature_scheme
from .certificate import Certificate, read_certificate
from .cms import Token, read_token
from .crl import RevocationList, read_list
from .der import Element
from .keys import check_signature, read_key
from .root import Root
from .tstinfo import TstInfo, read_tstinfo

_MOST_CERTIFICATES = 16
_MOST_CHECKS = 768

Signed = Union[Certificate, RevocationList]


class Evidence(NamedTuple):
    """An anchor, read but not judged. Each certificate is there once, those of the token first."""

    token: Token
    info: TstInfo
    certificates: List[Certificate]
    lists: List[RevocationList]


def _read(anchor: TimestampAnchor) -> Evidence:
    """Everything is read, also what turns out not to be needed."""
    token = read_token(anchor.token)
    info = read_tstinfo(token.content)
    beside = [read_certificate(each) for each in anchor.certificates]
    every = token.certificates + beside
    require(len(every) <= _MOST_CERTIFICATES, f"There are more than {_MOST_CERTIFICATES} certificates.")
    certificates = {each.encoded: each for each in every}
    return Evidence(token, info, list(certificates.values()), [read_list(each) for each in anchor.crls])


class Document:
    """The timestamp anchors of one document. Each is read once, and each signature is checked once."""

    def __init__(self, anchors: List[TimestampAnchor], roots: List[Root]) -> None:
        self._read: Dict[int, Evidence] = {}
        self._faults: Dict[int, Fails] = {}
        self._signed: Dict[Tuple[bytes, bytes], bool] = {}
        for anchor in anchors:
            try:
                self._read[id(anchor)] = _read(anchor)
            except Fails as fault:
                self._faults[id(anchor)] = fault
        self.needs_too_much = self._checks(roots) > _MOST_CHECKS

    def evidence(self, anchor: TimestampAnchor) -> Evidence:
        """What an anchor of the document contains. Raises `Fails` if it cannot be read."""
        if id(anchor) in self._faults:
            raise self._faults[id(anchor)]
        return self._read[id(anchor)]

    def is_signed(self, signed: Signed, key: Element) -> bool:
        """Whether a certificate or a list is signed by the key."""
        pair = signed.encoded, key.encoded
        if pair not in self._signed:
            try:
                scheme = signature_scheme(read_algorithm(signed.algorithm, "The algorithm of a signature"))
                check_signature(scheme, read_key(key), signed.signed, signed.signature, "A signature")
                self._signed[pair] = True
            except Fails:
                self._signed[pair] = False
        return self._signed[pair]

    def _checks(self, roots: List[Root]) -> int:
        """One for each token; and one for each certificate or list with each key of its issuer's name."""
        pairs: Set[Tuple[bytes, bytes]] = set()
        for evidence in self._read.values():
            keys: Dict[bytes, List[bytes]] = {}
            for issuer in [*evidence.certificates, *roots]:
                keys.setdefault(issuer.subject, []).append(issuer.public_key.encoded)
            for signed in [*evidence.certificates, *evidence.lists]:
                pairs.update((signed.encoded, key) for key in keys.get(signed.issuer, []))
        return len(self._read) + len(pairs)
