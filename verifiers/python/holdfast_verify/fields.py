"""The form of single fields: hex, integers, base64, objects with exactly their members (section "The document")."""

import base64
import re
from typing import Any, Dict, List, Optional, Pattern, Sequence

from .outcome import Fails, require
from .strict_json import MOST_INTEGER, Number

TYPE_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
WORKSPACE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
SUBJECT_ID = re.compile("[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,255}")

_HEX = re.compile(r"0x(?:[0-9a-f]{2})+")
_UINT64 = re.compile(r"[1-9][0-9]{0,19}")
_BASE64 = re.compile(
    r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=|[A-Za-z0-9+/][AQgw]==)"
)


def members(value: Any, names: Sequence[str], where: str) -> Dict[str, Any]:
    """An object with exactly these members."""
    require(isinstance(value, dict), f"{where} is not an object.")
    for name in names:
        require(name in value, f"{where} has no {name}.")
    for name in value:
        require(name in names, f"{where} has a member that the format does not have: {ascii(name)[:60]}.")
    return dict(value)


def array(value: Any, least: int, most: int, where: str) -> List[Any]:
    """A list of so many elements."""
    require(isinstance(value, list), f"{where} is not a list.")
    require(len(value) >= least, f"{where} has fewer than {least} elements.")
    require(len(value) <= most, f"{where} has more than {most} elements.")
    return list(value)


def text(value: Any, pattern: Pattern[str], where: str) -> str:
    """A text that the pattern matches as a whole."""
    require(isinstance(value, str) and pattern.fullmatch(value) is not None, f"{where} is not of the right form.")
    return str(value)


def hex_bytes(value: Any, where: str, size: Optional[int] = None) -> bytes:
    """Bytes as 0x and lower-case digits: so many, or at least one."""
    written = text(value, _HEX, where)
    require(size is None or len(written) == 2 + 2 * size, f"{where} has not {size} bytes.")
    return bytes.fromhex(written[2:])


def hash_bytes(value: Any, where: str) -> bytes:
    """32 bytes."""
    return hex_bytes(value, where, 32)


def address_bytes(value: Any, where: str) -> bytes:
    """20 bytes."""
    return hex_bytes(value, where, 20)


def integer(value: Any, where: str, most: int = MOST_INTEGER) -> int:
    """A JSON number whose value is an integer from 0 to `most`."""
    whole = value.integer() if isinstance(value, Number) else None
    if whole is None:
        raise Fails(f"{where} is not an integer from 0 to {most}.")
    require(whole <= most, f"{where} is beyond {most}.")
    return int(whole)


def uint64(value: Any, where: str) -> int:
    """A decimal string from 1 to 2^64 − 1, without leading zeros."""
    number = int(text(value, _UINT64, where))
    require(number < 2**64, f"{where} is beyond 2^64 − 1.")
    return number


def base64_bytes(value: Any, where: str, most_characters: int) -> bytes:
    """Base64 of at least one byte, in its one spelling."""
    require(isinstance(value, str), f"{where} is not a text.")
    require(len(value) <= most_characters, f"{where} has more than {most_characters} characters.")
    return base64.b64decode(text(value, _BASE64, where))


def hex_text(data: bytes) -> str:
    """0x and lower-case digits."""
    return "0x" + data.hex()
