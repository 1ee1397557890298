"""The statements about the passkeys of workers together, and what a sign-off was made with (section "Passkeys of workers")."""

import hashlib
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set

from .document import MalformedProof, Proof, proof_from
from .fields import hash_bytes
from .jcs import canonical
from .leaf import leaf_hash
from .outcome import Fails, Skips, require
from .result import FAIL, PASS, Result
from .signed_with import Passkey, any_text, place_number
from .signoff import Signoff
from .statement import Registration, Revocation, Statement, read_statement
from .strict_json import parse

_LINE = ("workerId", "number", "hash", "salt", "document", "proof")


class _Registered:
    def __init__(self, statement: Statement, says: Registration, digest: bytes) -> None:
        self.statement, self.says, self.hash = statement, says, digest
        self.revoked_at: Optional[int] = None

    def is_named(self, passkey: Passkey) -> bool:
        return (
            self.hash == passkey.registration.hash
            and self.statement.number == passkey.registration.number
            and self.statement.credential_id == passkey.credential_id
            and self.says.public_key == passkey.public_key
            and self.says.rp_id == passkey.rp_id
        )


class _Worker:
    def __init__(self, address: bytes) -> None:
        self.address = address
        self.number = 0
        # The leaf of the last statement; None if that has no proof.
        self.leaf: Optional[bytes] = bytes(32)
        self.registered: List[_Registered] = []


class _Line(NamedTuple):
    worker_id: str
    number: int
    hash: bytes
    text: bytes
    document: Any
    proof: Optional[Proof]


Verify = Callable[[Proof, bytes], Result]


class Chain:
    """The statements so far. Whatever contradicts them raises `Fails`."""

    def __init__(self, workspace_id: str) -> None:
        self.workspace_id = workspace_id
        self.workers: Dict[str, _Worker] = {}
        self.addresses: Dict[bytes, str] = {}
        # Apart, because whoever registers a passkey chooses its credential, such as somebody's public key.
        self.known_credentials: Set[bytes] = set()
        self.known_keys: Set[bytes] = set()

    def add(self, line: _Line) -> None:
        """The next statement; those of a worker come in their order."""
        try:
            statement = read_statement(line.document)
        except Skips as reason:
            raise Fails(str(reason)) from reason
        require(statement.workspace_id == self.workspace_id, "It is of another workspace.")
        require(statement.worker_id == line.worker_id, "It is about another worker than its line says.")
        require(statement.number == line.number, "It has another number than its line says.")
        worker = self.workers.setdefault(line.worker_id, _Worker(statement.worker))
        require(line.number == worker.number + 1, "It does not follow the one before.")
        require(statement.worker == worker.address, "It is about another address than the one before.")
        owner = self.addresses.setdefault(statement.worker, line.worker_id)
        require(owner == line.worker_id, "It is about the address of another worker.")
        if line.proof is not None:
            require(line.proof.leaf.vault == statement.vault, "It is sealed by another vault than it names.")
        if line.proof is not None and worker.leaf is not None:
            require(line.proof.leaf.previous_leaf == worker.leaf, "Its proof does not follow the one before.")
        worker.number = line.number
        worker.leaf = None if line.proof is None else leaf_hash(line.proof.leaf)
        if isinstance(statement.says, Revocation):
            self._revoke(worker, statement, statement.says)
        else:
            self._register(worker, statement, statement.says, line.hash)

    def _register(self, worker: _Worker, statement: Statement, says: Registration, digest: bytes) -> None:
        is_new = statement.credential_id not in self.known_credentials and says.public_key not in self.known_keys
        require(is_new, "It registers a passkey that was registered before.")
        self.known_credentials.add(statement.credential_id)
        self.known_keys.add(says.public_key)
        if says.signed_with.passkey is not None:
            by = _named(worker, says.signed_with.passkey)
            if by is None:
                raise Fails("It is signed by a passkey that is not registered.")
            require(by.revoked_at is None, "It is signed by a passkey that had been revoked.")
        worker.registered.append(_Registered(statement, says, digest))

    def _revoke(self, worker: _Worker, statement: Statement, says: Revocation) -> None:
        named = [one for one in worker.registered if one.hash == says.registration.hash]
        if not named:
            raise Fails("It revokes a passkey that is not registered.")
        registered = named[0]
        require(registered.statement.number == says.registration.number, "It names another number of the registration.")
        require(registered.statement.credential_id == statement.credential_id, "It revokes another passkey.")
        require(registered.revoked_at is None, "It revokes a passkey that had been revoked.")
        require(registered.statement.vault == statement.vault, "It is sealed by another vault than the registration.")
        require(says.at >= registered.says.since, "It revokes a passkey before it was registered.")
        registered.revoked_at = says.at

    def judge(self, signoff: Signoff) -> str:
        """The worker signed with what they had then."""
        owner = self.addresses.get(signoff.worker)
        worker = None if owner is None else self.workers.get(owner)
        received = signoff.signed_at if signoff.received_at is None else signoff.received_at
        passkey = signoff.signed_with.passkey
        if passkey is None:
            first = worker.registered[0] if worker is not None and worker.registered else None
            is_before = first is None or received <= first.says.since
            require(is_before, "It was signed without a passkey, although the worker had one then.")
            return "The worker had registered no passkey before."
        found = None if worker is None else _named(worker, passkey)
        if found is None:
            raise Fails("Its passkey is not one that the worker had registered.")
        # The time of a signature is in whole seconds.
        require(signoff.signed_at + 1000 > found.says.since, "It was signed before its passkey was registered.")
        require(found.revoked_at is None or received <= found.revoked_at, "Its passkey had been revoked.")
        return f"The worker had registered the passkey in statement {found.statement.number}."


def _named(worker: _Worker, passkey: Passkey) -> Optional[_Registered]:
    return next((one for one in worker.registered if one.is_named(passkey)), None)


def _lines(statements: bytes) -> List[bytes]:
    """The last one may lack its line feed."""
    lines = statements.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def _read_line(line: bytes) -> _Line:
    value = parse(line)
    require(isinstance(value, dict), "It is not an object.")
    for name in _LINE:
        require(name in value, f"It has no {name}.")
    text = canonical(value["document"])
    digest = hash_bytes(value["hash"], "hash")
    salted = hashlib.sha256(hash_bytes(value["salt"], "salt") + text).digest()
    require(salted == digest, "It does not match its hash.")
    try:
        proof = None if value["proof"] is None else proof_from(value["proof"])
    except MalformedProof as fault:
        raise Fails(f"Its proof is malformed: {fault}") from fault
    worker_id, number = any_text(value["workerId"], "workerId"), place_number(value["number"], "number")
    return _Line(worker_id, number, digest, text, value["document"], proof)


def _check_proof(line: _Line, workspace_id: str, verify: Verify) -> bool:
    """Whether its proof is complete."""
    if line.proof is None:
        return False
    result = verify(line.proof, line.text)
    require(result.verdict != FAIL, f"Its proof does not hold: {result.summary}")
    subject = line.proof.subject
    require(line.proof.kind == "passkey", "Its proof is of another kind.")
    require(subject.workspace_id == workspace_id, "Its proof is of another workspace.")
    require(subject.id == line.worker_id, "Its proof is about another worker.")
    require(line.proof.leaf.version == line.number, "Its proof has another number.")
    require(line.proof.content.digest == line.hash, "Its proof is about something else.")
    return result.verdict == PASS


def check_passkey(signoff: Signoff, statements: bytes, verify: Verify) -> str:
    """The step `passkey`: by these statements, the worker signed with what they had then."""
    chain = Chain(signoff.workspace_id)
    all_proven = True
    for place, text in enumerate(_lines(statements), 1):
        try:
            line = _read_line(text)
            all_proven = _check_proof(line, signoff.workspace_id, verify) and all_proven
            chain.add(line)
        except Fails as fault:
            raise Fails(f"Statement {place} about passkeys: {fault}") from fault
    words = chain.judge(signoff)
    if not all_proven:
        raise Skips("Not every statement about passkeys has a complete proof.")
    return words
