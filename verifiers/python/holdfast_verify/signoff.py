"""The form of a sign-off, and what its worker signed (section "Sign-offs")."""

import re
from typing import Any, Dict, List, NamedTuple, Optional

from .fields import hash_bytes, hex_bytes, integer, members, text
from .outcome import Skips, require
from .signed_with import (
    MOST_NUMBER,
    SignedWith,
    address,
    any_text,
    check_signed,
    read_signed_with,
    some_text,
    utc_time,
    whole_second,
    without_null,
)
from .typed_data import Types, typed_data_digest

_FORMAT = "holdfast/signoff@2"
_ROLE = re.compile("performed|inspected|certified")
_LICENCE_TEXTS, _LICENCE_TIMES = ("scope", "number", "authority"), ("validFrom", "expiresAt", "suspendedAt")
_LICENCE = ("category", *_LICENCE_TEXTS, *_LICENCE_TIMES)
_ORGANISATION = ("name", "address", "authority", "approvalNumber", "regulation")
_ASSET = ("version", "name", "partNumber", "serialNumber")
_TEXTS = ("workspaceId", "assetId", "maintenanceId", "workerName")
_MEMBERS = ("format", *_TEXTS, "maintenanceHash", "role", "workerAddress", "licence", "signedAt", "signedWith", "signature")
# More than these milliseconds between signing and receipt are told: the signature waited on a device.
_LATER = 5 * 60 * 1000


def _texts(*names: str) -> List[Any]:
    return [(name, "string") for name in names]


_TYPES: Types = {
    "Signoff": [
        *_texts("format", "workspaceId", "assetId", "maintenanceId"),
        ("maintenanceHash", "bytes32"),
        ("role", "string"),
        ("workerAddress", "address"),
        ("workerName", "string"),
        ("licence", "Licence[]"),
        ("signedAt", "string"),
        ("signedWith", "SignedWith"),
        ("release", "Release[]"),
    ],
    "Licence": _texts(*_LICENCE),
    "SignedWith": _texts("method", "apiKeyId"),
    "Release": [("organisation", "Organisation[]"), ("asset", "Asset")],
    "Organisation": _texts(*_ORGANISATION),
    "Asset": [("version", "uint32"), *_texts("name", "partNumber", "serialNumber")],
}


class Signoff(NamedTuple):
    """A sign-off of the right form, whose signature holds."""

    workspace_id: str
    asset_id: str
    maintenance_id: str
    role: str
    worker: bytes
    worker_name: str
    signed_at: int
    received_at: Optional[int]
    signed_with: SignedWith


def _licence(value: Any) -> List[Dict[str, str]]:
    """As it is signed: one, or none."""
    if value is None:
        return []
    licence = members(value, _LICENCE, "licence")
    if licence["category"] is not None:
        some_text(licence["category"], "licence.category")
    for name in _LICENCE_TEXTS:
        any_text(licence[name], f"licence.{name}")
    for name in _LICENCE_TIMES:
        if licence[name] is not None:
            utc_time(licence[name], f"licence.{name}")
    return [without_null(licence, _LICENCE)]


def _release(value: Any) -> Dict[str, Any]:
    """In whose name the work is released, and what it was done on, as it is signed."""
    release = members(value, ("organisation", "asset"), "release")
    organisation = release["organisation"]
    if organisation is not None:
        organisation = members(organisation, _ORGANISATION, "release.organisation")
        for name in _ORGANISATION:
            any_text(organisation[name], f"release.organisation.{name}")
    asset = members(release["asset"], _ASSET, "release.asset")
    for name in _ASSET[1:]:
        any_text(asset[name], f"release.asset.{name}")
    version = integer(asset["version"], "release.asset.version", MOST_NUMBER)
    return {"organisation": [] if organisation is None else [organisation], "asset": {**asset, "version": version}}


def read_signoff(value: Any) -> Signoff:
    """A sign-off from its parsed JSON, with its signature. Skips a format that is not known."""
    if not isinstance(value, dict) or value.get("format") != _FORMAT:
        raise Skips("The format of this sign-off is not known.")
    released = ["release"] if value.get("role") == "certified" else []
    received = ["receivedAt"] if "receivedAt" in value else []
    parts = members(value, (*_MEMBERS, *released, *received), "The sign-off")
    for name in _TEXTS:
        any_text(parts[name], name)
    worker = address(parts["workerAddress"], "workerAddress")
    signed_with = read_signed_with(parts["signedWith"], ("apiKeyId",))
    signoff = Signoff(
        workspace_id=parts["workspaceId"],
        asset_id=parts["assetId"],
        maintenance_id=parts["maintenanceId"],
        role=text(parts["role"], _ROLE, "role"),
        worker=worker,
        worker_name=parts["workerName"] or parts["workerAddress"],
        signed_at=whole_second(parts["signedAt"], "signedAt"),
        received_at=whole_second(parts["receivedAt"], "receivedAt") if received else None,
        signed_with=signed_with,
    )
    message = {
        **parts,
        "maintenanceHash": hash_bytes(parts["maintenanceHash"], "maintenanceHash"),
        "workerAddress": worker,
        "licence": _licence(parts["licence"]),
        "signedWith": {"method": signed_with.method, "apiKeyId": signed_with.api_key_id or ""},
        "release": [_release(parts["release"])] if released else [],
    }
    digest = typed_data_digest(_TYPES, "Signoff", message)
    check_signed(worker, signed_with, digest, hex_bytes(parts["signature"], "signature"))
    return signoff


def check_signoff(signoff: Signoff, workspace_id: str, maintenance_id: str, claims: Optional[Dict[str, Any]]) -> None:
    """The sign-off is of what the proof is about."""
    require(signoff.workspace_id == workspace_id, "The sign-off is of another workspace.")
    require(signoff.maintenance_id == maintenance_id, "The sign-off is about another entry.")
    if claims is not None:
        require(claims.get("assetId") == signoff.asset_id, "The sign-off is about another asset.")
        require(claims.get("role") == signoff.role, "The sign-off is in another role.")


def signoff_in_words(signoff: Signoff) -> str:
    """Who signed with what; and that the time is a statement, if it was sent later."""
    method, words = signoff.signed_with.method, f"Signed by {signoff.worker_name}"
    if signoff.signed_with.api_key_id is not None:
        words = f"Signed by the service on behalf of {signoff.worker_name}."
    elif method == "held-key":
        words += ", in their own session, with a key that the service holds for them."
    else:
        words += " with a passkey." if method == "passkey" else " with their own key."
    if signoff.received_at is None or signoff.received_at - signoff.signed_at <= _LATER:
        return words
    return f"{words} The time of signing is a statement of the signer's device; the service received the signature later."
