"""The worker's signature in a sign-off, by a key or by a passkey (section "Sign-offs")."""

import hashlib
import re
from base64 import urlsafe_b64encode
from datetime import datetime, timezone
from typing import Any, Dict, Optional

from .crypto.keccak import keccak256
from .crypto.secp256k1 import HALF_ORDER, recover_address
from .document import Proof
from .fields import hash_bytes, hex_bytes, members, text
from .leaf import number
from .outcome import Fails, Skips, require
from .rfc3161.algorithms import ECDSA, RSA, Scheme
from .rfc3161.der import read_der
from .rfc3161.keys import EcKey, check_signature, read_key
from .crypto.curve import P256
from .seal import DOMAIN_SEPARATOR
from .strict_json import Number, parse

_EARLIER, _CURRENT = "holdfast/signoff@1", "holdfast/signoff@2"
_TYPE = keccak256(
    b"Signoff(string workspaceId,string assetId,string maintenanceId,bytes32 maintenanceHash,string role,"
    b"address worker,string licenceScope,string licenceNumber,uint64 signedAt)"
)
_MEMBERS = (
    "format",
    "workspaceId",
    "assetId",
    "maintenanceId",
    "maintenanceHash",
    "role",
    "workerAddress",
    "workerName",
    "licence",
    "signedAt",
    "signature",
)
_LICENCE = ("scope", "number", "authority", "expiresAt")
_LIMITS = ("category", "validFrom", "suspendedAt")
_ORGANISATION = ("name", "address", "authority", "approvalNumber", "regulation")
_ASSET = ("version", "name", "partNumber", "serialNumber")
_PASSKEY = (
    "method",
    "registration",
    "credentialId",
    "publicKey",
    "rpId",
    "authenticatorData",
    "clientDataJSON",
)
_ANY = re.compile(r"(?s:.*)")
_ROLE = re.compile("performed|inspected|certified")
_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z", re.ASCII)
_ORIGIN = re.compile(r"(https?)://([a-z0-9.-]+)(?::[0-9]{1,5})?")
# More than these seconds between signing and receipt are told: the signature waited on a device.
_LATER = 5 * 60
_PRESENT, _VERIFIED, _MORE = 0x01, 0x04, 0xC0


def _text(value: Any, where: str) -> str:
    return text(value, _ANY, where)


def _licence(value: Any) -> Optional[Dict[str, Any]]:
    if value is None:
        return None
    limits = _LIMITS if isinstance(value, dict) and "category" in value else ()
    licence = members(value, _LICENCE + limits, "licence")
    for name in _LICENCE[:3]:
        _text(licence[name], f"licence.{name}")
    for name in ("expiresAt",) + limits:
        if licence[name] is not None:
            _text(licence[name], f"licence.{name}")
    return licence


def _check_release(signoff: Dict[str, Any]) -> None:
    """In whose name the work is released: the form of what says so."""
    require(signoff["role"] == "certified", "Only a sign-off as certified releases something.")
    release = members(signoff["release"], ("organisation", "asset"), "release")
    if release["organisation"] is not None:
        organisation = members(release["organisation"], _ORGANISATION, "release.organisation")
        for name in _ORGANISATION:
            _text(organisation[name], f"release.organisation.{name}")
    asset = members(release["asset"], _ASSET, "release.asset")
    count = asset["version"].integer() if isinstance(asset["version"], Number) else None
    require(count is not None and 0 <= count < 2**31, "release.asset.version is not a number.")
    for name in _ASSET[1:]:
        _text(asset[name], f"release.asset.{name}")


def _seconds(value: Any, where: str) -> int:
    stated = text(value, _TIME, where)
    try:
        moment = datetime.strptime(stated, "%Y-%m-%dT%H:%M:%S.000Z").replace(tzinfo=timezone.utc)
    except ValueError as fault:
        raise Fails(f"{where} is not a time.") from fault
    seconds = int(moment.timestamp())
    require(seconds >= 0, f"{where} is before 1970.")
    return seconds


def _digest(signoff: Dict[str, Any]) -> bytes:
    """What the worker signs: EIP-712 typed data; a passkey signs it as its challenge."""
    licence = _licence(signoff["licence"])

    def hashed(value: Any, where: str) -> bytes:
        return keccak256(_text(value, where).encode())

    message = keccak256(
        _TYPE
        + hashed(signoff["workspaceId"], "workspaceId")
        + hashed(signoff["assetId"], "assetId")
        + hashed(signoff["maintenanceId"], "maintenanceId")
        + hash_bytes(signoff["maintenanceHash"], "maintenanceHash")
        + hashed(text(signoff["role"], _ROLE, "role"), "role")
        + bytes.fromhex(text(signoff["workerAddress"], _ADDRESS, "workerAddress")[2:]).rjust(32, b"\0")
        + hashed("" if licence is None else licence["scope"], "licence.scope")
        + hashed("" if licence is None else licence["number"], "licence.number")
        + number(_seconds(signoff["signedAt"], "signedAt"))
    )
    return keccak256(b"\x19\x01" + DOMAIN_SEPARATOR + message)


def _check_key(signoff: Dict[str, Any], digest: bytes) -> None:
    signature = hex_bytes(signoff["signature"], "signature")
    require(len(signature) == 65, "The signature has not 65 bytes.")
    r, s, v = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big"), signature[64]
    require(v in (27, 28), "v of the signature is neither 27 nor 28.")
    require(s <= HALF_ORDER, "s of the signature is in the upper half.")
    worker = bytes.fromhex(signoff["workerAddress"][2:])
    require(recover_address(digest, r, s, v == 28) == worker, "The signature is by another key than the worker's, or by none.")


def _check_client_data(client_data: Any, challenge: str, rp_id: str) -> None:
    require(isinstance(client_data, dict), "The client data are not an object.")
    require(client_data.get("type") == "webauthn.get", "The assertion is none of a signature.")
    require(client_data.get("challenge") == challenge, "The assertion is for something else.")
    crossing = client_data.get("crossOrigin", False)
    require(crossing is False, "The assertion was made inside the page of another site.")
    origin = client_data.get("origin")
    match = _ORIGIN.fullmatch(origin) if isinstance(origin, str) else None
    require(match is not None, "The origin of the assertion is none of a page.")
    assert match is not None
    scheme, host = match.groups()
    require(host == rp_id or host.endswith(f".{rp_id}"), "The assertion was made on another site.")
    require(scheme == "https" or rp_id == "localhost", "The assertion was made on a page without TLS.")


def _check_authenticator_data(data: bytes, rp_id: str) -> None:
    require(len(data) >= 37, "The authenticator data are too short.")
    flags = data[32]
    require(len(data) == 37 or flags & _MORE != 0, "The authenticator data are too long.")
    require(data[:32] == hashlib.sha256(rp_id.encode()).digest(), "The assertion is for another host name.")
    require(flags & _PRESENT != 0 and flags & _VERIFIED != 0, "The passkey did not verify its user.")


def _check_passkey(signoff: Dict[str, Any], digest: bytes) -> None:
    passkey = members(signoff["signedWith"], _PASSKEY, "signedWith")
    registration = members(passkey["registration"], ("number", "hash"), "signedWith.registration")
    hash_bytes(registration["hash"], "signedWith.registration.hash")
    count = registration["number"].integer() if isinstance(registration["number"], Number) else None
    require(count is not None and 0 <= count < 2**31, "signedWith.registration.number is not a number.")
    hex_bytes(passkey["credentialId"], "signedWith.credentialId")
    rp_id = _text(passkey["rpId"], "signedWith.rpId")
    data = hex_bytes(passkey["authenticatorData"], "signedWith.authenticatorData")
    client_data = _text(passkey["clientDataJSON"], "signedWith.clientDataJSON").encode()
    challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
    _check_client_data(parse(client_data), challenge, rp_id)
    _check_authenticator_data(data, rp_id)
    key = read_key(read_der(hex_bytes(passkey["publicKey"], "signedWith.publicKey")))
    is_curve = isinstance(key, EcKey)
    require(not isinstance(key, EcKey) or key.curve == P256, "The key of the passkey is on another curve than P-256.")
    scheme = Scheme(ECDSA if is_curve else RSA, "sha256", 0)
    signed = data + hashlib.sha256(client_data).digest()
    check_signature(scheme, key, signed, hex_bytes(signoff["signature"], "signature"), "The assertion")


def _method(signoff: Dict[str, Any]) -> str:
    """How it was signed; the form of what says so."""
    if signoff["format"] == _EARLIER:
        return "own-key"
    signed_with = signoff["signedWith"]
    method = signed_with.get("method") if isinstance(signed_with, dict) else None
    if method == "own-key":
        members(signed_with, ("method",), "signedWith")
    elif method == "held-key":
        held = members(signed_with, ("method", "apiKeyId"), "signedWith")
        if held["apiKeyId"] is not None:
            _text(held["apiKeyId"], "signedWith.apiKeyId")
    else:
        require(method == "passkey", "signedWith.method is not known.")
    return str(method)


def _in_words(signoff: Dict[str, Any], method: str) -> str:
    words, received = _method_in_words(signoff, method), signoff.get("receivedAt")
    if received is None or _seconds(received, "receivedAt") - _seconds(signoff["signedAt"], "signedAt") <= _LATER:
        return words
    return (
        f"{words} The time of signing is a statement of the signer's device; "
        f"the service received the signature on {received[:10]} at {received[11:16]} UTC."
    )


def _method_in_words(signoff: Dict[str, Any], method: str) -> str:
    worker = signoff["workerName"] or signoff["workerAddress"]
    if signoff["format"] == _EARLIER:
        return f"Signed with the key of {worker}. Who held that key was not recorded."
    if method == "held-key" and signoff["signedWith"]["apiKeyId"] is not None:
        return f"Signed by the service on behalf of {worker}."
    return f"Signed by {worker} with " + {
        "own-key": "their own key.",
        "held-key": "a key that the service holds for them, in their own session.",
        "passkey": "a passkey.",
    }[method]


def check_signoff(proof: Proof, content: bytes) -> str:
    """The step `signature`: the content is a sign-off of what the proof is about, signed by the worker whom it names."""
    signoff = parse(content)
    known = isinstance(signoff, dict) and signoff.get("format") in (_EARLIER, _CURRENT)
    if not known:
        raise Skips("The format of this sign-off is not known.")
    names = _MEMBERS if signoff["format"] == _EARLIER else (*_MEMBERS, "signedWith")
    optional = [name for name in ("release", "receivedAt") if signoff["format"] == _CURRENT and name in signoff]
    signoff = members(signoff, (*names, *optional), "The sign-off")
    if "release" in optional:
        _check_release(signoff)
    if "receivedAt" in optional:
        _seconds(signoff["receivedAt"], "receivedAt")
    digest = _digest(signoff)
    _text(signoff["workerName"], "workerName")
    require(signoff["workspaceId"] == proof.subject.workspace_id, "The sign-off is of another workspace.")
    require(signoff["maintenanceId"] == proof.subject.id, "The sign-off is about another entry.")
    if proof.claims is not None:
        require(proof.claims.get("assetId") == signoff["assetId"], "The sign-off is about another asset.")
        require(proof.claims.get("role") == signoff["role"], "The sign-off is in another role.")
    method = _method(signoff)
    if method == "passkey":
        _check_passkey(signoff, digest)
    else:
        _check_key(signoff, digest)
    return _in_words(signoff, method)
