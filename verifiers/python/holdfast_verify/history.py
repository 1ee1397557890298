"""A `holdfast/history@1`: the proofs of one thing, and whether they follow each other (section "History")."""

import re
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from . import fields as form
from .context import Context
from .document import MalformedProof, Proof, Subject, proof_from, read_subject
from .leaf import leaf_hash
from .outcome import Fails, Skips, require
from .result import FAIL, INCOMPLETE, PASS, Result, Step, step_of
from .seal import seal_id
from .strict_json import parse
from .verify import verify_proof

HISTORY_FORMAT = "holdfast/history@1"
_MOST_PROOFS = 100_000
_GIVEN_AWAY = ("transfer", "revoke")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


class History(NamedTuple):
    """A history of the right form."""

    subject: Subject
    proofs: List[Proof]


class HistoryResult(NamedTuple):
    """What came out: for each proof, and for the chain of them."""

    verdict: str
    summary: str
    proofs: List[Result]
    chain: Step


def history_from(value: Any) -> History:
    """A history from its parsed JSON. If one of its proofs is malformed, it is. Raises `Fails`."""
    parts = form.members(value, ("format", "subject", "proofs"), "The history")
    require(parts["format"] == HISTORY_FORMAT, f"format is not {HISTORY_FORMAT}.")
    subject = read_subject(parts["subject"])
    require(isinstance(parts["proofs"], list), "proofs is not a list.")
    require(len(parts["proofs"]) > 0, "proofs has no element.")
    require(len(parts["proofs"]) <= _MOST_PROOFS, f"proofs has more than {_MOST_PROOFS} elements.")
    proofs: List[Proof] = []
    for place, entry in enumerate(parts["proofs"], 1):
        try:
            proofs.append(proof_from(entry))
        except MalformedProof as fault:
            raise Fails(f"Proof {place} is malformed: {fault}") from fault
    return History(subject, proofs)


def _taker(proof: Proof) -> Optional[bytes]:
    """Who owns the thing after a transfer or a revoke, in any case of letters; None if those claims were erased."""
    if proof.claims is None:
        return None
    to = proof.claims.get("to")
    require(isinstance(to, str) and _ADDRESS.fullmatch(to) is not None, f"A {proof.kind} names nobody who gets the thing.")
    return bytes.fromhex(str(to)[2:])


def _check_order(history: History) -> None:
    """Subject, previous leaves and versions."""
    previous = bytes(32)
    versions: Dict[str, int] = {}
    for place, proof in enumerate(history.proofs, 1):
        require(proof.subject == history.subject, f"Proof {place} is about another subject.")
        require(proof.leaf.previous_leaf == previous, f"Proof {place} does not follow the one before it.")
        require(proof.leaf.version > versions.get(proof.kind, 0), f"The version of proof {place} does not rise.")
        versions[proof.kind] = proof.leaf.version
        previous = leaf_hash(proof.leaf)


def _check_owners(proofs: List[Proof]) -> bool:
    """Every leaf is the owner's, and nobody seals after a revoke. Returns whether every owner is known."""
    owner: Optional[bytes] = proofs[0].leaf.vault
    revoked: Set[bytes] = set()
    all_known = True
    for place, proof in enumerate(proofs, 1):
        vault = proof.leaf.vault
        require(owner in (None, vault), f"Proof {place} is by another vault than the owner's.")
        require(vault not in revoked, f"The vault of proof {place} had revoked itself.")
        owner = vault
        if proof.kind == "revoke":
            revoked.add(vault)
        if proof.kind in _GIVEN_AWAY:
            owner = _taker(proof)
            all_known = all_known and (owner is not None or place == len(proofs))
    return all_known


def _check_seals(proofs: List[Proof]) -> None:
    """The seals of each vault do not contradict each other."""
    last: Dict[bytes, Tuple[int, bytes]] = {}
    for place, proof in enumerate(proofs, 1):
        seal, identity = proof.seal, seal_id(proof.seal)
        if seal.vault in last:
            number, before = last[seal.vault]
            require(seal.sequence != number or identity == before, f"Proof {place} has a second seal of one number.")
            require(seal.sequence >= number, f"The number of the seal of proof {place} falls.")
            follows = seal.sequence == number + 1
            require(not follows or seal.previous_seal == before, f"The seal of proof {place} names another one before it.")
        last[seal.vault] = seal.sequence, identity


def _check_chain(history: History) -> str:
    _check_order(history)
    _check_seals(history.proofs)
    if not _check_owners(history.proofs):
        raise Skips("The claims of a transfer were erased, so the owner after it is not known.")
    return f"{len(history.proofs)} proofs follow each other."


def verify_history(document: bytes, context: Context) -> HistoryResult:
    """Every proof by itself, and then the chain of them."""
    try:
        history = history_from(parse(document))
    except Fails as fault:
        return HistoryResult(FAIL, f"The history is malformed: {fault}", [], Step("history", FAIL, str(fault)))
    results = [verify_proof(proof, context) for proof in history.proofs]
    chain = step_of("history", lambda: _check_chain(history))
    verdicts = [result.verdict for result in results]
    if FAIL in verdicts or chain.status == FAIL:
        return HistoryResult(FAIL, "One of the proofs, or how they follow each other, does not hold.", results, chain)
    if INCOMPLETE in verdicts or chain.status != PASS:
        return HistoryResult(INCOMPLETE, "Nothing contradicts the history, but it is not complete.", results, chain)
    return HistoryResult(PASS, f"All {len(results)} proofs hold, and they follow each other.", results, chain)
