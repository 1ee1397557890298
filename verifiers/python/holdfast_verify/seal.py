"""The vault's signature, and the id of the seal, which is part of what is anchored (section "Seal")."""

from .crypto.keccak import keccak256
from .crypto.secp256k1 import HALF_ORDER, recover_address
from .document import Leaf, Merkle, Seal
from .leaf import hashed_twice, number
from .outcome import require

_SEAL_DOMAIN = keccak256(b"holdfast/seal@1")
_SEAL_TYPE = keccak256(b"Seal(address vault,bytes32 subtreeRoot,uint32 leaves,uint64 sequence,bytes32 previousSeal)")
DOMAIN_SEPARATOR = keccak256(
    keccak256(b"EIP712Domain(string name,string version)") + keccak256(b"Holdfast") + keccak256(b"1")
)


def signed_digest(seal: Seal) -> bytes:
    """What the vault signs: EIP-712 typed data, in a domain without chain and contract."""
    message = keccak256(
        _SEAL_TYPE
        + seal.vault.rjust(32, b"\0")
        + seal.subtree_root
        + number(seal.leaves)
        + number(seal.sequence)
        + seal.previous_seal
    )
    return keccak256(b"\x19\x01" + DOMAIN_SEPARATOR + message)


def seal_id(seal: Seal) -> bytes:
    """The id that stands beside the root of the subtree."""
    return hashed_twice(
        _SEAL_DOMAIN,
        seal.subtree_root,
        seal.vault,
        number(seal.leaves),
        number(seal.sequence),
        seal.previous_seal,
        keccak256(seal.signature),
    )


def check_seal(seal: Seal, leaf: Leaf, merkle: Merkle) -> None:
    """The vault in the leaf signed the subtree, and this very signature is under the root."""
    require(seal.vault == leaf.vault, "The seal is by another vault than the one in the leaf.")
    r, s, v = seal.signature[:32], seal.signature[32:64], seal.signature[64]
    require(v in (27, 28), "v of the signature is neither 27 nor 28.")
    require(int.from_bytes(s, "big") <= HALF_ORDER, "s of the signature is in the upper half.")
    signer = recover_address(signed_digest(seal), int.from_bytes(r, "big"), int.from_bytes(s, "big"), v % 2 == 0)
    require(signer == seal.vault, "The signature is by another key than the vault's, or by none.")
    require(seal.depth < len(merkle.proof), "There is no seal in the path.")
    require(merkle.proof[seal.depth] == seal_id(seal), "The path has another seal.")
