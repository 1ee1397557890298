"""The leaf: eight fields, encoded and hashed twice (section "Leaf")."""

from .crypto.keccak import keccak256
from .document import Content, Leaf, Subject
from .outcome import require

LEAF_DOMAIN = keccak256(b"holdfast/leaf@1")
# What workers sign is JSON.
SIGNED_KINDS = ("signoff", "passkey")


def hashed_twice(*words: bytes) -> bytes:
    """keccak256 of keccak256 of the words, each right-aligned in 32 bytes: `abi.encode` of static fields."""
    return keccak256(keccak256(b"".join(word.rjust(32, b"\0") for word in words)))


def number(value: int) -> bytes:
    """An unsigned number as a word."""
    return value.to_bytes(32, "big")


def leaf_hash(leaf: Leaf) -> bytes:
    """The leaf in the tree."""
    return hashed_twice(
        leaf.domain,
        leaf.kind,
        leaf.digest,
        leaf.subject,
        number(leaf.version),
        leaf.previous_leaf,
        leaf.vault,
        leaf.claims_hash,
    )


def check_leaf(leaf: Leaf, kind: str, content: Content, subject: Subject) -> None:
    """Domain, kind and subject in the leaf are those of the document. Its types were compared when it was read."""
    require(leaf.domain == LEAF_DOMAIN, "The leaf is of another domain.")
    kind_hash = keccak256(f"{kind}/{content.canonicalization}".encode())
    require(leaf.kind == kind_hash, "The leaf is of another kind or canonicalization.")
    is_json = content.canonicalization == "jcs"
    require(is_json or kind not in SIGNED_KINDS, f"The canonicalization of the kind {kind} is jcs.")
    subject_hash = keccak256(f"{subject.workspace_id}/{subject.id}".encode())
    require(leaf.subject == subject_hash, "The leaf is about another subject.")
