"""The verification of one proof: all steps, the verdict and the time (section "Verifying")."""

from io import BytesIO
from typing import BinaryIO, List, Optional

from .anchors import judge_anchors, skipped_anchors
from .anchors_form import TimestampAnchor
from .clock import format_time
from .context import Context
from .digest import claims_hash, content_digest
from .document import MalformedProof, Proof, proof_from
from .fields import hex_text
from .leaf import SIGNED_KINDS, check_leaf, leaf_hash
from .outcome import Fails, Skips, require
from .renewals import judge_renewals
from .rfc3161.evidence import Document
from .result import FAIL, INCOMPLETE, PASS, SKIPPED, Result, Step, Voucher, failed, passed, step_of
from .seal import check_seal
from .passkeys import check_passkey
from .signoff import Signoff, check_signoff, read_signoff, signoff_in_words
from .statement import check_statement, read_statement, statement_in_words
from .strict_json import parse
from .tree import check_path

STEPS = ("digest", "claims", "leaf", "path", "seal", "time")
# Without which a verdict is not PASS. The last two belong to what workers sign, if it is given with its content.
_NEEDED = (*STEPS, "signature", "passkey")


def _check_digest(proof: Proof, content: Optional[BinaryIO], given_salt: Optional[bytes]) -> str:
    stated = proof.content.digest
    require(stated == proof.leaf.digest, "content.digest is not the digest in the leaf.")
    if content is None:
        return f"No content was given. The verdict is about the digest {hex_text(stated)}."
    salt = proof.content.salt
    if proof.content.canonicalization != "raw" and given_salt is not None:
        require(salt in (None, given_salt), "The salt that was given is not the one in the document.")
        salt = given_salt
    digest = content_digest(proof.content.canonicalization, salt, content)
    if digest is None:
        raise Skips("The salt of the content is not known.")
    require(digest == stated, f"The content has another digest: {hex_text(digest)}.")
    return f"The content has the digest {hex_text(stated)}."


class _Signed:
    """What a worker signed, if the kind of the proof is one of these and the content is given."""

    def __init__(self, proof: Proof, content: bytes) -> None:
        self.proof = proof
        self.content = content
        self.signoff: Optional[Signoff] = None

    def steps(self, digest: Step, passkeys: Optional[bytes], context: Context) -> List[Step]:
        signature = step_of("signature", lambda: self._signature(digest))
        if passkeys is None or self.proof.kind != "signoff":
            return [signature]
        given = passkeys
        return [signature, step_of("passkey", lambda: self._passkey(given, context))]

    def _signature(self, digest: Step) -> str:
        if digest.status != PASS:
            raise Skips("The content is not the one that the proof is about.")
        subject, claims, leaf = self.proof.subject, self.proof.claims, self.proof.leaf
        if self.proof.kind == "passkey":
            statement = read_statement(parse(self.content))
            check_statement(statement, subject.workspace_id, subject.id, leaf.version, leaf.vault, claims)
            return statement_in_words(statement)
        signoff = read_signoff(parse(self.content))
        check_signoff(signoff, subject.workspace_id, subject.id, claims)
        self.signoff = signoff
        return signoff_in_words(signoff)

    def _passkey(self, statements: bytes, context: Context) -> str:
        if self.signoff is None:
            raise Skips("Without the signature of a worker, there is nobody whose passkey it could be.")
        return check_passkey(self.signoff, statements, lambda proof, text: verify_proof(proof, context, BytesIO(text)))


def _check_claims(proof: Proof) -> str:
    if proof.claims is None:
        raise Skips("The claims were erased.")
    require(claims_hash(proof.claims) == proof.leaf.claims_hash, "The claims have another hash than the leaf says.")
    return "The claims match the hash in the leaf."


def _check_leaf(proof: Proof) -> str:
    check_leaf(proof.leaf, proof.kind, proof.content, proof.subject)
    return f"The leaf is {hex_text(leaf_hash(proof.leaf))}."


def _check_path(proof: Proof) -> str:
    check_path(leaf_hash(proof.leaf), proof.merkle, proof.seal)
    return f"The leaf is under the root {hex_text(proof.merkle.root)}."


def _check_seal(proof: Proof) -> str:
    check_seal(proof.seal, proof.leaf, proof.merkle)
    seal = proof.seal
    return f"{hex_text(seal.vault)} signed the subtree with {seal.leaves} leaves as its seal number {seal.sequence}."


def _existed(first: Voucher, at: int) -> str:
    """A clock may be ahead of the time of judgement, and nobody knows what exists then."""
    return f"existed {'before' if first.time > at else 'on'} {format_time(first.time)}, says {first.who}"


def _check_time(vouchers: List[Voucher], at: int) -> str:
    if not vouchers:
        raise Skips("No clock that is trusted vouches for the root.")
    return f"It {_existed(vouchers[0], at)}."


def _verdict(steps: List[Step]) -> str:
    if failed(steps):
        return FAIL
    needed = [step for step in steps if step.name in _NEEDED]
    return PASS if passed(needed) else INCOMPLETE


def _summary(verdict: str, steps: List[Step], vouchers: List[Voucher], vault: str, with_content: bool, at: int) -> str:
    what = "The content" if with_content else "Something with this digest"
    if verdict == FAIL:
        first = next(step for step in steps if step.status == FAIL)
        return f"The proof does not hold. The step {first.name} failed: {first.message}"
    if verdict == PASS:
        return f"{what} {_existed(vouchers[0], at)}, and was sealed by the vault {vault}."
    missing = ", ".join(step.name for step in steps if step.name in _NEEDED and step.status == SKIPPED)
    return f"Nothing contradicts the proof, but it is not complete. Not checked: {missing}."


def _malformed(faults: MalformedProof) -> Result:
    """Only the six steps: those that use a malformed field fail, the others are skipped."""
    steps = [
        Step(name, FAIL, faults.faults[name]) if name in faults.faults else Step(name, SKIPPED, "The document is malformed.")
        for name in STEPS
    ]
    return Result(FAIL, _summary(FAIL, steps, [], "", False, 0), [], steps)


def _timestamp_anchors(proof: Proof) -> List[TimestampAnchor]:
    every = [*proof.anchors, *(anchor for renewal in proof.renewals for anchor in renewal.anchors)]
    return [anchor for anchor in every if isinstance(anchor, TimestampAnchor)]


def verify_proof(
    proof: Proof,
    context: Context,
    content: Optional[BinaryIO] = None,
    salt: Optional[bytes] = None,
    passkeys: Optional[bytes] = None,
) -> Result:
    """A proof of the right form. `passkeys`: the statements about passkeys, for a sign-off that is given with its content."""
    signed: Optional[_Signed] = None
    if content is not None and proof.kind in SIGNED_KINDS and proof.content.canonicalization == "jcs":
        whole = content.read()
        signed, content = _Signed(proof, whole), BytesIO(whole)
    given = content
    digest = step_of("digest", lambda: _check_digest(proof, given, salt))
    steps = [
        digest,
        *([] if signed is None else signed.steps(digest, passkeys, context)),
        step_of("claims", lambda: _check_claims(proof)),
        step_of("leaf", lambda: _check_leaf(proof)),
    ]
    leaf = steps[-1]
    if leaf.status == PASS:
        steps.append(step_of("path", lambda: _check_path(proof)))
    else:
        steps.append(Step("path", SKIPPED, "The leaf is not right."))
    path = steps[-1]
    steps.append(step_of("seal", lambda: _check_seal(proof)))

    context = context._replace(document=Document(_timestamp_anchors(proof), context.trust.tsa_roots))
    renewals = judge_renewals(proof, context)
    vouchers: List[Voucher] = []
    if path.status == PASS:
        anchors = judge_anchors(proof.anchors, proof.merkle.root, proof.merkle.size, context, None, renewals.renewed_at)
        vouchers = sorted(anchors.vouchers + renewals.root_vouchers)
    else:
        anchors = skipped_anchors(proof.anchors, None, "The path does not lead to the root.")
    steps += anchors.steps + renewals.steps
    at = context.judged_at()
    steps.append(step_of("time", lambda: _check_time(vouchers, at)))
    verdict = _verdict(steps)
    summary = _summary(verdict, steps, vouchers, hex_text(proof.seal.vault), content is not None, at)
    return Result(verdict, summary, vouchers, steps)


def verify(
    document: bytes,
    context: Context,
    content: Optional[BinaryIO] = None,
    salt: Optional[bytes] = None,
    passkeys: Optional[bytes] = None,
) -> Result:
    """A proof from its text."""
    try:
        return verify_proof(proof_from(parse(document)), context, content, salt, passkeys)
    except Fails as fault:
        return _malformed(MalformedProof({"leaf": str(fault)}))
    except MalformedProof as faults:
        return _malformed(faults)
