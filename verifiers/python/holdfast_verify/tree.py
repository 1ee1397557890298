"""Paths in trees of sorted pairs (section "Tree and path")."""

from typing import Iterable

from .crypto.keccak import keccak256
from .document import Merkle, Seal
from .outcome import require


def parent(left: bytes, right: bytes) -> bytes:
    """The parent of two nodes: the smaller one comes first."""
    return keccak256(min(left, right) + max(left, right))


def follow(node: bytes, path: Iterable[bytes]) -> bytes:
    """Where a path leads from a node."""
    for sibling in path:
        node = parent(node, sibling)
    return node


def check_path(leaf: bytes, merkle: Merkle, seal: Seal) -> None:
    """The leaf leads to the root of the vault's subtree, and that, with the seal, to the root. The form limits the length."""
    require(seal.depth < len(merkle.proof), "The path is too short for its depth: it has no seal.")
    require(2**seal.depth < 2 * seal.leaves, "The path in the subtree is too long for the number of leaves.")
    require(seal.leaves < 2 ** (seal.depth + 1), "The path in the subtree is too short for the number of leaves.")
    subtree_root = follow(leaf, merkle.proof[: seal.depth])
    require(subtree_root == seal.subtree_root, "The leaf does not lead to the root of the vault's subtree.")
    root = follow(subtree_root, merkle.proof[seal.depth :])
    require(root == merkle.root, "The vault's subtree does not lead to the root of the batch.")
