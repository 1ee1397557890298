"""What an `inclusion` shows to whoever knows a block's hash: one of its receipts (section "evm", inclusion)."""

from typing import NamedTuple

from ..anchors_form import Inclusion
from ..crypto.keccak import keccak256
from ..outcome import require
from .receipt import Receipt, read_receipt
from .rlp import as_integer, as_list, as_sized, decode, encode_integer
from .trie import value_at

_MOST_BYTES = 65_536


class Included(NamedTuple):
    """A block, and the receipt in it."""

    block_hash: bytes
    block_number: int
    block_time: int
    receipt: Receipt


def open_inclusion(inclusion: Inclusion) -> Included:
    """The block and the receipt. Raises `Fails` if anything in it is wrong."""
    total = len(inclusion.header) + sum(map(len, inclusion.nodes))
    require(total <= _MOST_BYTES, f"Header and nodes have more than {_MOST_BYTES} bytes together.")
    header = as_list(decode(inclusion.header), "The header")
    require(len(header) >= 15, "The header has fewer than 15 fields.")
    receipts_root = as_sized(header[5], 32, "The root of the receipts")
    number = as_integer(header[8], "The number of the block")
    time = as_integer(header[11], "The time of the block")
    receipt = read_receipt(value_at(receipts_root, encode_integer(inclusion.index), inclusion.nodes))
    return Included(keccak256(inclusion.header), number, time, receipt)
