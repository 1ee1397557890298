"""The three steps of an `evm` anchor, and whether it vouches (section "evm")."""

from typing import List, Optional, Tuple

from ..anchors_form import EvmAnchor
from ..context import USUAL_REGISTRY, Context
from ..crypto.keccak import keccak256
from ..fields import hex_text
from ..outcome import Skips, require
from ..result import SKIPPED, Step, Voucher, passed, step_of
from ..trust import FINALIZED
from .chain import check_chain, usable_node

NAMES = ("registry", "chain", "finality")
_CODE_HASH = bytes.fromhex("306c55ab61d7e86e32417b2c6fa63432f43e36a870a6cdf8c63b691291b51de0")


def _check_registry(anchor: EvmAnchor, context: Context) -> str:
    require(anchor.contract == context.registry, f"{hex_text(anchor.contract)} is not the registry.")
    if context.registry == USUAL_REGISTRY:
        return f"{hex_text(anchor.contract)} is the registry: the address follows from its code."
    code = usable_node(anchor, context).code(anchor.contract)
    require(keccak256(code) == _CODE_HASH, "The named registry has no code, or other code.")
    return f"{hex_text(anchor.contract)} has the code of the registry."


def _check_finality(anchor: EvmAnchor, context: Context) -> str:
    if context.trust.blocks.has(anchor.chain_id, anchor.block_hash):
        return f"Block {anchor.block_number} is trusted."
    chain = context.trust.chain(anchor.chain_id)
    if chain is None:
        raise Skips(f"Nobody knows when a block of chain {anchor.chain_id} is final.")
    node = usable_node(anchor, context)
    if chain.finality == FINALIZED:
        newest = node.finalized()
        final = None if newest is None else newest.number
    else:
        head = node.head()
        final = None if head is None else head.number - int(chain.finality)
    if final is None:
        raise Skips("The node does not say which block is final.")
    if final < anchor.block_number:
        raise Skips(f"Block {anchor.block_number} is not final yet.")
    return f"Block {anchor.block_number} is final."


def judge_evm(anchor: EvmAnchor, root: bytes, size: int, context: Context) -> Tuple[List[Step], Optional[Voucher]]:
    """The steps, without their places, and the voucher if the anchor vouches."""
    if context.is_later(anchor.block_time * 1000):
        return [Step(name, SKIPPED, "The block is later than the time of judgement.") for name in NAMES], None
    steps: List[Step] = []
    checks = (
        lambda: _check_registry(anchor, context),
        lambda: check_chain(anchor, root, size, context),
        lambda: _check_finality(anchor, context),
    )
    for name, check in zip(NAMES, checks):
        if passed(steps):
            steps.append(step_of(name, check))
        else:
            steps.append(Step(name, SKIPPED, f"The step {steps[-1].name} did not pass."))
    chain = context.trust.chain(anchor.chain_id)
    if not passed(steps) or chain is None or chain.test_network:
        return steps, None
    who = f"block {anchor.block_number} of {chain.name}"
    by_node = chain.built_in and not context.trust.blocks.has(anchor.chain_id, anchor.block_hash)
    return steps, Voucher(anchor.block_time * 1000, who, is_shipped=by_node)
