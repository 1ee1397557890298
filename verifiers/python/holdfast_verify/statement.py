"""A statement about the passkey of a worker: that it is theirs, or no longer (section "Passkeys of workers")."""

from typing import Any, Dict, NamedTuple, Optional, Union

from .fields import address_bytes, hex_bytes, members
from .outcome import Skips, require
from .signed_with import (
    Reference,
    SignedWith,
    address,
    any_text,
    check_signed,
    host_name,
    place_number,
    read_signed_with,
    reference,
    some_text,
    utc_time,
)
from .typed_data import Types, typed_data_digest

_REGISTRATION, _REVOCATION = "holdfast/passkey-registration@1", "holdfast/passkey-revocation@1"
_ALWAYS = ("format", "workspaceId", "workerId", "workerAddress", "workerName", "number", "vault", "credentialId")
_REGISTERED = (
    *_ALWAYS,
    "publicKey",
    "rpId",
    "attestation",
    "invitedBy",
    "invitedWith",
    "registeredAt",
    "confirmedBy",
    "confirmedAt",
    "receivedAt",
    "signedWith",
    "signature",
)
_REVOKED = (*_ALWAYS, "registration", "reason", "revokedBy", "revokedAt")
_TYPES: Types = {
    "PasskeyRegistration": [
        ("format", "string"),
        ("workspaceId", "string"),
        ("workerId", "string"),
        ("workerAddress", "address"),
        ("workerName", "string"),
        ("number", "uint32"),
        ("vault", "address"),
        ("credentialId", "bytes"),
        ("publicKey", "bytes"),
        ("rpId", "string"),
        ("attestation", "Attestation"),
        ("invitedBy", "string"),
        ("invitedWith", "string"),
        ("registeredAt", "string"),
        ("confirmedBy", "string"),
        ("confirmedAt", "string"),
        ("signedWith", "string"),
    ],
    "Attestation": [("format", "string"), ("aaguid", "string"), ("object", "bytes"), ("clientDataJSON", "string")],
}


class Registration(NamedTuple):
    """What only a registration says. `since` is the time from which the passkey signs."""

    public_key: bytes
    rp_id: str
    since: int
    signed_with: SignedWith


class Revocation(NamedTuple):
    """What only a revocation says."""

    registration: Reference
    at: int


class Statement(NamedTuple):
    """A statement of the right form. The signature of a registration holds."""

    workspace_id: str
    worker_id: str
    worker: bytes
    worker_address: str
    worker_name: str
    number: int
    vault: bytes
    credential_id: bytes
    says: Union[Registration, Revocation]


def _registration(parts: Dict[str, Any], worker: bytes) -> Registration:
    attestation = members(parts["attestation"], ("format", "aaguid", "object", "clientDataJSON"), "attestation")
    for name in ("format", "aaguid", "clientDataJSON"):
        any_text(attestation[name], f"attestation.{name}")
    for name in ("invitedBy", "confirmedBy"):
        some_text(parts[name], name)
    if parts["invitedWith"] is not None:
        some_text(parts["invitedWith"], "invitedWith")
    registered, confirmed, since = (
        utc_time(parts[name], name) for name in ("registeredAt", "confirmedAt", "receivedAt")
    )
    signed_with = read_signed_with(parts["signedWith"], ())
    message = {
        **parts,
        "workerAddress": worker,
        "number": place_number(parts["number"], "number"),
        "vault": address_bytes(parts["vault"], "vault"),
        "credentialId": hex_bytes(parts["credentialId"], "credentialId"),
        "publicKey": hex_bytes(parts["publicKey"], "publicKey"),
        "rpId": host_name(parts["rpId"], "rpId"),
        "attestation": {**attestation, "object": hex_bytes(attestation["object"], "attestation.object")},
        "invitedWith": parts["invitedWith"] or "",
        "signedWith": signed_with.method,
    }
    require(parts["invitedBy"] != parts["confirmedBy"], "Whoever invited the worker confirmed the registration as well.")
    require(registered <= confirmed, "The registration was confirmed before it was made.")
    require(confirmed <= since, "The registration was signed before it was confirmed.")
    passkey, number = signed_with.passkey, message["number"]
    require(passkey is not None or number == 1, "Only the first registration is signed by a key.")
    is_later = passkey is None or passkey.registration.number < number
    require(is_later, "The registration is signed by a passkey that was not registered before.")
    digest = typed_data_digest(_TYPES, "PasskeyRegistration", message)
    check_signed(worker, signed_with, digest, hex_bytes(parts["signature"], "signature"))
    return Registration(message["publicKey"], message["rpId"], since, signed_with)


def _revocation(parts: Dict[str, Any]) -> Revocation:
    any_text(parts["reason"], "reason")
    actor = members(parts["revokedBy"], ("kind", "id"), "revokedBy")
    for name in ("kind", "id"):
        any_text(actor[name], f"revokedBy.{name}")
    return Revocation(reference(parts["registration"], "registration"), utc_time(parts["revokedAt"], "revokedAt"))


def read_statement(value: Any) -> Statement:
    """A statement from its parsed JSON, with its signature. Skips a format that is not known."""
    stated = value.get("format") if isinstance(value, dict) else None
    if stated not in (_REGISTRATION, _REVOCATION):
        raise Skips("The format of this statement about a passkey is not known.")
    parts = members(value, _REGISTERED if stated == _REGISTRATION else _REVOKED, "The statement")
    for name in ("workspaceId", "workerId", "workerName"):
        any_text(parts[name], name)
    worker = address(parts["workerAddress"], "workerAddress")
    return Statement(
        workspace_id=parts["workspaceId"],
        worker_id=parts["workerId"],
        worker=worker,
        worker_address=parts["workerAddress"],
        worker_name=parts["workerName"] or parts["workerAddress"],
        number=place_number(parts["number"], "number"),
        vault=address_bytes(parts["vault"], "vault"),
        credential_id=hex_bytes(parts["credentialId"], "credentialId"),
        says=_registration(parts, worker) if stated == _REGISTRATION else _revocation(parts),
    )


def check_statement(
    statement: Statement, workspace_id: str, worker_id: str, version: int, vault: bytes, claims: Optional[Dict[str, Any]]
) -> None:
    """The statement is what the proof is about, and is sealed by the vault that it names."""
    require(statement.workspace_id == workspace_id, "The statement is of another workspace.")
    require(statement.worker_id == worker_id, "The statement is about another worker.")
    require(statement.number == version, "The statement has another number than the leaf.")
    require(statement.vault == vault, "The statement is sealed by another vault than it names.")
    if claims is not None:
        state = "registered" if isinstance(statement.says, Registration) else "revoked"
        require(claims.get("worker") == statement.worker_address, "The claims name another worker.")
        require(claims.get("state") == state, "The claims say something else than the statement.")


def statement_in_words(statement: Statement) -> str:
    """What it says, and who signed it."""
    if isinstance(statement.says, Revocation):
        return f"It revokes a passkey of {statement.worker_name}, which needs no signature."
    signed_with = statement.says.signed_with
    if signed_with.passkey is not None:
        by = f"the passkey of statement {signed_with.passkey.registration.number}"
    else:
        by = "their own key" if signed_with.method == "own-key" else "the key that the service held for them"
    return f"It registers a passkey of {statement.worker_name}, signed with {by}."
