"""EIP-712: the 32 bytes that stand for typed data, in the domain of Holdfast (section "Sign-offs")."""

import re
from typing import Any, Dict, List, Sequence, Set, Tuple

from .crypto.keccak import keccak256
from .leaf import number
from .seal import DOMAIN_SEPARATOR

# Members in the order in which they are hashed, as (name, type).
Types = Dict[str, Sequence[Tuple[str, str]]]
_LIST = re.compile(r"(.+)\[\]")


def _text_of(types: Types, name: str) -> str:
    """The type with the types that it uses, in the order of their names."""
    used: Set[str] = set()
    open_names: List[str] = [name]
    while open_names:
        for _, member_type in types[open_names.pop()]:
            inner = member_type[:-2] if member_type.endswith("[]") else member_type
            if inner in types and inner not in used:
                used.add(inner)
                open_names.append(inner)
    ordered = [name, *sorted(used - {name})]
    return "".join(f"{one}({','.join(f'{kind} {member}' for member, kind in types[one])})" for one in ordered)


def _word(types: Types, kind: str, value: Any) -> bytes:
    items = _LIST.fullmatch(kind)
    if items:
        return keccak256(b"".join(_word(types, items.group(1), item) for item in value))
    if kind in types:
        return _struct(types, kind, value)
    if kind == "string":
        return keccak256(value.encode())
    if kind == "bytes":
        return keccak256(value)
    if kind == "uint32":
        return number(value)
    # address and bytes32
    return bytes(value).rjust(32, b"\0")


def _struct(types: Types, name: str, message: Dict[str, Any]) -> bytes:
    words = [keccak256(_text_of(types, name).encode())]
    words += [_word(types, kind, message[member]) for member, kind in types[name]]
    return keccak256(b"".join(words))


def typed_data_digest(types: Types, primary: str, message: Dict[str, Any]) -> bytes:
    """What is signed. Addresses, hashes and bytes are `bytes`; a passkey signs the digest as its challenge."""
    return keccak256(b"\x19\x01" + DOMAIN_SEPARATOR + _struct(types, primary, message))
