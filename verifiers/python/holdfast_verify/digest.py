"""The digest of content (section "Digest") and the hash of claims (section "Claims")."""

import hashlib
import hmac
from typing import Any, BinaryIO, Dict, Optional

from .jcs import canonical
from .strict_json import parse

_PIECE = 1 << 20


def claims_hash(claims: Dict[str, Any]) -> bytes:
    """SHA-256 of the claims in the form of RFC 8785."""
    return hashlib.sha256(canonical(claims)).digest()


def content_digest(canonicalization: str, salt: Optional[bytes], content: BinaryIO) -> Optional[bytes]:
    """The digest of content, which is read in pieces unless it is JSON; None if it needs a salt that is not known."""
    if canonicalization == "raw":
        running = hashlib.sha256()
        for piece in iter(lambda: content.read(_PIECE), b""):
            running.update(piece)
        return running.digest()
    if salt is None:
        return None
    if canonicalization == "jcs":
        return hashlib.sha256(salt + canonical(parse(content.read()))).digest()
    keyed = hmac.new(salt, digestmod=hashlib.sha256)
    for piece in iter(lambda: content.read(_PIECE), b""):
        keyed.update(piece)
    return keyed.digest()
