"""The path to one value of a Merkle-Patricia trie (section "evm", inclusion)."""

from typing import List, Tuple

from ..crypto.keccak import keccak256
from ..outcome import Fails, require
from .rlp import as_bytes, as_list, as_sized, decode


def nibbles_of(data: bytes) -> List[int]:
    """Each byte as two nibbles."""
    return [nibble for byte in data for nibble in (byte >> 4, byte & 15)]


def _hex_prefix(path: bytes) -> Tuple[bool, List[int]]:
    """Whether a path in hex prefix form is that of a leaf, and its nibbles."""
    nibbles = nibbles_of(path)
    require(len(nibbles) > 0, "A node's path is empty.")
    flag = nibbles[0]
    require(flag <= 3, "A node's path has an unknown flag.")
    is_leaf, odd = flag >= 2, flag % 2 == 1
    require(odd or nibbles[1] == 0, "A node's path has padding that is not zero.")
    rest = nibbles[1:] if odd else nibbles[2:]
    require(is_leaf or len(rest) > 0, "An extension has no path.")
    return is_leaf, rest


def value_at(root: bytes, key: bytes, nodes: List[bytes]) -> bytes:
    """The value under the key of the trie with that root. `nodes` is the way to it, and nothing else."""
    left = nibbles_of(key)
    reference = root
    for place, encoded in enumerate(nodes, 1):
        require(keccak256(encoded) == reference, f"Node {place} is not the one that is referred to.")
        node = as_list(decode(encoded), f"Node {place}")
        if len(node) == 17:
            require(len(left) > 0, "A branch is where the key has ended.")
            reference = as_sized(node[left.pop(0)], 32, "A reference in a branch")
            continue
        require(len(node) == 2, f"Node {place} has neither 17 nor two items.")
        is_leaf, path = _hex_prefix(as_bytes(node[0], "A node's path"))
        require(left[: len(path)] == path, f"Node {place} is on the way to another key.")
        left = left[len(path) :]
        if is_leaf:
            require(len(left) == 0, "A leaf is where the key has not ended.")
            require(place == len(nodes), "Nodes follow the leaf.")
            return as_bytes(node[1], "The value of a leaf")
        reference = as_sized(node[1], 32, "The reference in an extension")
    raise Fails("The way does not end in a leaf.")
