"""How a worker signed, with a key or a passkey, and whether the signature holds (section "Sign-offs")."""

import hashlib
import re
from base64 import urlsafe_b64encode
from typing import Any, Dict, NamedTuple, Optional, Sequence

from .clock import parse_time
from .crypto.curve import P256
from .crypto.keccak import keccak256
from .crypto.secp256k1 import HALF_ORDER, recover_address
from .fields import hash_bytes, hex_bytes, integer, members, text
from .outcome import Fails, require
from .rfc3161.algorithms import ECDSA, RSA, Scheme
from .rfc3161.der import read_der
from .rfc3161.keys import EcKey, check_signature, read_key
from .strict_json import parse

MOST_NUMBER = 2**31 - 1
_ANY = re.compile(r"(?s:.*)")
_SOME = re.compile(r"(?s:.+)")
_ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3})?Z")
_ORIGIN = re.compile(r"(https?)://([a-z0-9.-]+)(?::[0-9]{1,5})?")
_PASSKEY = ("method", "registration", "credentialId", "publicKey", "rpId", "authenticatorData", "clientDataJSON")
_PRESENT, _VERIFIED, _MORE = 0x01, 0x04, 0xC0


class Reference(NamedTuple):
    """Another statement: its number and its salted hash."""

    number: int
    hash: bytes


class Passkey(NamedTuple):
    """Which passkey signed, and what it signed beside the challenge."""

    registration: Reference
    credential_id: bytes
    public_key: bytes
    rp_id: str
    authenticator_data: bytes
    client_data: bytes


class SignedWith(NamedTuple):
    """The method; the API key that had the service sign, if there is one; and the passkey, if it was one."""

    method: str
    api_key_id: Optional[str]
    passkey: Optional[Passkey]


def any_text(value: Any, where: str) -> str:
    """A text, which may be empty."""
    return text(value, _ANY, where)


def some_text(value: Any, where: str) -> str:
    """A text that is not empty."""
    return text(value, _SOME, where)


def host_name(value: Any, where: str) -> str:
    """A host name in small letters, as passkeys are bound to."""
    return text(value, _HOST, where)


def utc_time(value: Any, where: str) -> int:
    """A time in UTC, in milliseconds since 1970: one spelling for whole seconds, one with milliseconds."""
    time = parse_time(text(value, _TIME, where))
    if time is None:
        raise Fails(f"{where} is not a time.")
    return time


def whole_second(value: Any, where: str) -> int:
    """A time since 1970 in whole seconds, with zeros for milliseconds."""
    time = utc_time(value, where)
    require(time >= 0, f"{where} is before 1970.")
    require(value.endswith(".000Z"), f"{where} is not in whole seconds.")
    return time


def address(value: Any, where: str) -> bytes:
    """The 20 bytes of an address that is written with its checksum (EIP-55)."""
    digits = text(value, _ADDRESS, where)[2:]
    marks = keccak256(digits.lower().encode()).hex()
    checked = "".join(digit.upper() if mark >= "8" else digit for digit, mark in zip(digits.lower(), marks))
    require(digits == checked, f"{where} has not its checksum.")
    return bytes.fromhex(digits)


def place_number(value: Any, where: str) -> int:
    """The number of a statement, from 1."""
    number = integer(value, where, MOST_NUMBER)
    require(number > 0, f"{where} is 0, but numbers count from 1.")
    return number


def reference(value: Any, where: str) -> Reference:
    """Another statement."""
    parts = members(value, ("number", "hash"), where)
    return Reference(place_number(parts["number"], f"{where}.number"), hash_bytes(parts["hash"], f"{where}.hash"))


def _read_passkey(value: Any, where: str) -> Passkey:
    parts = members(value, _PASSKEY, where)
    return Passkey(
        registration=reference(parts["registration"], f"{where}.registration"),
        credential_id=hex_bytes(parts["credentialId"], f"{where}.credentialId"),
        public_key=hex_bytes(parts["publicKey"], f"{where}.publicKey"),
        rp_id=host_name(parts["rpId"], f"{where}.rpId"),
        authenticator_data=hex_bytes(parts["authenticatorData"], f"{where}.authenticatorData"),
        client_data=any_text(parts["clientDataJSON"], f"{where}.clientDataJSON").encode(),
    )


def read_signed_with(value: Any, held_members: Sequence[str]) -> SignedWith:
    """`signedWith`. `held_members`: what else it has if the service held the key."""
    method = value.get("method") if isinstance(value, dict) else None
    if method == "passkey":
        return SignedWith(method, None, _read_passkey(value, "signedWith"))
    require(method in ("own-key", "held-key"), "signedWith.method is not known.")
    held = held_members if method == "held-key" else ()
    parts = members(value, ("method", *held), "signedWith")
    api_key_id = parts.get("apiKeyId")
    if api_key_id is not None:
        some_text(api_key_id, "signedWith.apiKeyId")
    return SignedWith(str(method), api_key_id, None)


def _check_key(worker: bytes, digest: bytes, signature: bytes) -> None:
    require(len(signature) == 65, "The signature has not 65 bytes.")
    r, s, v = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big"), signature[64]
    require(v in (27, 28), "v of the signature is neither 27 nor 28.")
    require(s <= HALF_ORDER, "s of the signature is in the upper half.")
    signer = recover_address(digest, r, s, v == 28)
    require(signer == worker, "The signature is by another key than the worker's, or by none.")


def _check_client_data(client_data: Any, challenge: str, rp_id: str) -> None:
    require(isinstance(client_data, dict), "The client data are not an object.")
    require(client_data.get("type") == "webauthn.get", "The assertion is none of a signature.")
    require(client_data.get("challenge") == challenge, "The assertion is for something else.")
    crossing = client_data.get("crossOrigin", False)
    require(crossing is False, "The assertion was made inside the page of another site.")
    match = _ORIGIN.fullmatch(text(client_data.get("origin"), _ANY, "The origin of the assertion"))
    if match is None:
        raise Fails("The origin of the assertion is none of a page.")
    scheme, host = match.groups()
    require(host == rp_id or host.endswith(f".{rp_id}"), "The assertion was made on another site.")
    require(scheme == "https" or rp_id == "localhost", "The assertion was made on a page without TLS.")


def _check_authenticator_data(data: bytes, rp_id: str) -> None:
    require(len(data) >= 37, "The authenticator data are too short.")
    flags = data[32]
    require(len(data) == 37 or flags & _MORE != 0, "The authenticator data are too long.")
    require(data[:32] == hashlib.sha256(rp_id.encode()).digest(), "The assertion is for another host name.")
    require(flags & _PRESENT != 0 and flags & _VERIFIED != 0, "The passkey did not verify its user.")


def _check_passkey(passkey: Passkey, digest: bytes, signature: bytes) -> None:
    challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
    _check_client_data(parse(passkey.client_data), challenge, passkey.rp_id)
    _check_authenticator_data(passkey.authenticator_data, passkey.rp_id)
    key = read_key(read_der(passkey.public_key))
    is_curve = isinstance(key, EcKey)
    require(not isinstance(key, EcKey) or key.curve == P256, "The key of the passkey is on another curve than P-256.")
    scheme = Scheme(ECDSA if is_curve else RSA, "sha256", 0)
    signed = passkey.authenticator_data + hashlib.sha256(passkey.client_data).digest()
    check_signature(scheme, key, signed, signature, "The assertion")


def check_signed(worker: bytes, signed_with: SignedWith, digest: bytes, signature: bytes) -> None:
    """The signature holds: by the key of the address, or by the passkey, whose it is being shown elsewhere."""
    if signed_with.passkey is None:
        _check_key(worker, digest, signature)
    else:
        _check_passkey(signed_with.passkey, digest, signature)


def without_null(parts: Dict[str, Any], names: Sequence[str]) -> Dict[str, str]:
    """Texts as they are signed: empty where there is null."""
    return {name: "" if parts[name] is None else parts[name] for name in names}
