"""Later batches that cover evidence of a document, judged from the last to the first (section "Renewals")."""

import hashlib
from typing import Dict, List, NamedTuple, Optional

from .anchors import judge_anchors, skipped_anchors
from .anchors_form import Anchor, OpenTimestampsAnchor, TimestampAnchor
from .context import Context
from .crypto.keccak import keccak256
from .document import Proof, Renewal
from .leaf import hashed_twice
from .outcome import Fails, require
from .result import FAIL, PASS, Step, Voucher
from .tree import follow

_HEAD_DOMAIN = keccak256(b"holdfast/head@1")
_EVIDENCE_DOMAIN = keccak256(b"holdfast/evidence@1")


class Renewals(NamedTuple):
    """All steps of the renewals in their order, and by the place of the covered item what vouches for it."""

    steps: List[Step]
    root_vouchers: List[Voucher]
    renewed_at: Dict[int, List[int]]


def head_id(evidence_root: bytes, log_head: bytes) -> bytes:
    """The head of a batch: one more leaf of its top tree."""
    return hashed_twice(_HEAD_DOMAIN, evidence_root, log_head)


def evidence_leaf(item: bytes) -> bytes:
    """The leaf of an item of evidence."""
    return hashed_twice(_EVIDENCE_DOMAIN, hashlib.sha256(item).digest())


def _anchors_of(proof: Proof, renewal: Optional[int]) -> List[Anchor]:
    return proof.anchors if renewal is None else proof.renewals[renewal].anchors


def _item(proof: Proof, place: int) -> bytes:
    """The bytes that a renewal covers."""
    covers = proof.renewals[place].covers
    require(covers.renewal is None or covers.renewal < place, "The renewal covers nothing that is earlier.")
    if covers.anchor is None:
        return proof.merkle.root if covers.renewal is None else proof.renewals[covers.renewal].root
    anchors = _anchors_of(proof, covers.renewal)
    require(covers.anchor < len(anchors), "The renewal covers an anchor that does not exist.")
    anchor = anchors[covers.anchor]
    if isinstance(anchor, TimestampAnchor):
        return anchor.token
    if isinstance(anchor, OpenTimestampsAnchor):
        return anchor.proof
    raise Fails("The renewal covers an anchor that has no evidence of its own.")


def _check_renewal(proof: Proof, place: int) -> None:
    renewal = proof.renewals[place]
    evidence_root = follow(evidence_leaf(_item(proof, place)), renewal.path)
    require(evidence_root == renewal.evidence_root, "The item does not lead to the evidence of the later batch.")
    root = follow(head_id(renewal.evidence_root, renewal.log_head), renewal.proof)
    require(root == renewal.root, "The head of the later batch does not lead to its root.")


class _Covered:
    """What vouches for items: gathered from the last renewal to the first."""

    def __init__(self) -> None:
        self.vouchers: Dict["tuple[Optional[int], Optional[int]]", List[Voucher]] = {}

    def add(self, renewal: Renewal, vouchers: List[Voucher]) -> None:
        self.vouchers.setdefault((renewal.covers.renewal, renewal.covers.anchor), []).extend(vouchers)

    def root(self, renewal: Optional[int]) -> List[Voucher]:
        """What vouches for the root of a renewal, or of the document, because it is covered."""
        return self.vouchers.get((renewal, None), [])

    def renewed_at(self, renewal: Optional[int], anchors: List[Anchor]) -> Dict[int, List[int]]:
        """The times for each anchor that is covered."""
        found = {place: self.vouchers.get((renewal, place), []) for place in range(len(anchors))}
        return {place: [voucher.time for voucher in vouchers] for place, vouchers in found.items() if vouchers}


def judge_renewals(proof: Proof, context: Context) -> Renewals:
    """Every renewal: whether it covers what it says, and what vouches for it."""
    covered = _Covered()
    steps: List[Step] = []
    for place in range(len(proof.renewals) - 1, -1, -1):
        renewal = proof.renewals[place]
        try:
            _check_renewal(proof, place)
            step = Step("renewal", PASS, "A later batch covers evidence of this document.", renewal=place)
            renewed_at = covered.renewed_at(place, renewal.anchors)
            judged = judge_anchors(renewal.anchors, renewal.root, renewal.size, context, place, renewed_at)
            covered.add(renewal, judged.vouchers + covered.root(place))
        except Fails as failure:
            step = Step("renewal", FAIL, str(failure), renewal=place)
            judged = skipped_anchors(renewal.anchors, place, "The renewal does not lead to the root.")
        steps = [step] + judged.steps + steps
    return Renewals(steps, covered.root(None), covered.renewed_at(None, proof.anchors))
