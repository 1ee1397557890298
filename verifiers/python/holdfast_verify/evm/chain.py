"""The step `chain`: a block has a transaction that anchored the root (section "evm")."""

from ..anchors_form import EvmAnchor
from ..context import Context
from ..outcome import Skips, require
from .inclusion import open_inclusion
from .node import Node
from .receipt import is_anchored_log

_DEVELOPMENT_NODES = ("anvil", "hardhat", "ganache", "testrpc")


def _check_inclusion(anchor: EvmAnchor, root: bytes, size: int) -> None:
    """Rule 1: the inclusion is right, of this block, and has the log."""
    if anchor.inclusion is None:
        return
    found = open_inclusion(anchor.inclusion)
    require(found.block_hash == anchor.block_hash, "The header of the inclusion has another hash.")
    require(found.block_number == anchor.block_number, "The header of the inclusion has another number.")
    require(found.block_time == anchor.block_time, "The header of the inclusion has another time.")
    require(found.receipt.succeeded, "The transaction of the inclusion was reverted.")
    logged = any(is_anchored_log(log, anchor.contract, anchor.submitter, root, size) for log in found.receipt.logs)
    require(logged, "The receipt of the inclusion has no log about this root, size and submitter.")


def _is_trusted(anchor: EvmAnchor, context: Context) -> bool:
    """Rule 2: whether the trust file has the block. It fails if it has other ones of that number."""
    hashes = context.trust.blocks.hashes(anchor.chain_id, anchor.block_number)
    require(not hashes or anchor.block_hash in hashes, "The trust file has another hash for this block.")
    return bool(hashes)


def usable_node(anchor: EvmAnchor, context: Context) -> Node:
    """Rule 3: a node of the right chain. Raises `Skips` if there is none."""
    node = context.node
    if node is None:
        raise Skips("No node of the chain was given.")
    chain_id = node.chain_id()
    if chain_id != anchor.chain_id:
        raise Skips(f"The node is one of chain {chain_id}, not of chain {anchor.chain_id}.")
    chain = context.trust.chain(anchor.chain_id)
    if chain is not None:
        genesis_hashes = [each.genesis_hash for each in context.trust.chains_of(anchor.chain_id)]
        first = node.block(0)
        if first is None or first.hash not in genesis_hashes:
            raise Skips(f"The node's chain has the id of {chain.name}, but another first block.")
        if chain.built_in:
            version = node.client_version().lower()
            if any(name in version for name in _DEVELOPMENT_NODES):
                raise Skips(f"The node is one for development, which can imitate {chain.name}.")
    return node


def _check_block(anchor: EvmAnchor, node: Node) -> None:
    """Rule 4: the node's block of that number is this one, and has the transaction."""
    block = node.block(anchor.block_number)
    if block is None:
        raise Skips(f"The node does not have block {anchor.block_number}.")
    transactions = block.transaction_hashes()
    require(block.hash == anchor.block_hash, "The node has another block of this number.")
    require(block.time == anchor.block_time, "The node's block has another time.")
    require(anchor.transaction_hash in transactions, "The node's block does not have the transaction.")
    if anchor.inclusion is not None:
        there = transactions[anchor.inclusion.index : anchor.inclusion.index + 1]
        require(there == [anchor.transaction_hash], "The node's block has another transaction at that index.")


def _check_receipt(anchor: EvmAnchor, root: bytes, size: int, node: Node) -> None:
    """Rule 5: the node's receipt has the log, in this block."""
    receipt = node.receipt(anchor.transaction_hash)
    if receipt is None:
        raise Skips("The node no longer has the receipt of the transaction.")
    require(receipt.succeeded, "The node says that the transaction was reverted.")
    require(receipt.block_number == anchor.block_number, "The node has the transaction in a block of another number.")
    require(receipt.block_hash == anchor.block_hash, "The node has the transaction in another block.")
    logged = any(is_anchored_log(log, anchor.contract, anchor.submitter, root, size) for log in receipt.logs)
    require(logged, "The node's receipt has no log about this root, size and submitter.")


def check_chain(anchor: EvmAnchor, root: bytes, size: int, context: Context) -> str:
    """The rules in their order. Returns what to say."""
    _check_inclusion(anchor, root, size)
    if _is_trusted(anchor, context) and anchor.inclusion is not None:
        return f"Block {anchor.block_number} of chain {anchor.chain_id}, whose hash is trusted, anchored the root."
    node = usable_node(anchor, context)
    _check_block(anchor, node)
    if anchor.inclusion is None:
        _check_receipt(anchor, root, size, node)
    return f"The node says that block {anchor.block_number} of chain {anchor.chain_id} anchored the root."
