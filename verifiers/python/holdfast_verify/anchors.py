"""All anchors of a root: their steps in order, and who of them vouches (sections "Clocks" and "Verifying")."""

from typing import Dict, List, NamedTuple, Optional, Tuple

from .anchors_form import Anchor, EvmAnchor, OpenTimestampsAnchor, TimestampAnchor
from .context import Context
from .evm.judge import NAMES as EVM_STEPS
from .evm.judge import judge_evm
from .opentimestamps.judge import judge_block
from .outcome import Fails, Skips
from .result import FAIL, PASS, SKIPPED, Step, Voucher
from .rfc3161.judge import Ended, Stamp, judge_token

Judged = Tuple[List[Step], Optional[Voucher]]


class Judgement(NamedTuple):
    """The steps of the anchors, and what those vouch for that are trusted."""

    steps: List[Step]
    vouchers: List[Voucher]


def step_names(anchor: Anchor) -> Tuple[str, ...]:
    """The names of an anchor's steps. One of an unknown type has none."""
    if isinstance(anchor, EvmAnchor):
        return EVM_STEPS
    if isinstance(anchor, TimestampAnchor):
        return ("token",)
    return ("block",) if isinstance(anchor, OpenTimestampsAnchor) else ()


def _token(anchor: TimestampAnchor, root: bytes, context: Context, renewed_at: List[int]) -> Stamp:
    """A token whose certificate has ended is judged again at the earliest time, not before its own, for which a renewal of it vouches."""
    try:
        return judge_token(anchor, root, context, context.judged_at())
    except Ended as ended:
        times = [time for time in renewed_at if time >= ended.gen_time]
        if not times:
            raise
        return judge_token(anchor, root, context, min(times))


def _judge(anchor: Anchor, root: bytes, size: int, context: Context, renewed_at: List[int]) -> Judged:
    """The steps of one anchor, without their places, and its voucher."""
    if isinstance(anchor, EvmAnchor):
        return judge_evm(anchor, root, size, context)
    try:
        if isinstance(anchor, TimestampAnchor):
            stamp = _token(anchor, root, context, renewed_at)
            who = f"the timestamp authority {stamp.signer}"
            return [Step("token", PASS, stamp.message)], Voucher(stamp.time, who, is_shipped=not context.trust.given)
        if isinstance(anchor, OpenTimestampsAnchor):
            block = judge_block(anchor, root, context)
            who = f"Bitcoin block {block.height}, give or take 2 hours"
            return [Step("block", PASS, block.message)], Voucher(block.time, who, is_shipped=not context.trust.given)
    except Fails as failure:
        return [Step(name, FAIL, str(failure)) for name in step_names(anchor)], None
    except Skips as reason:
        return [Step(name, SKIPPED, str(reason), not_now=reason.not_now) for name in step_names(anchor)], None
    return [], None


def judge_anchors(
    anchors: List[Anchor], root: bytes, size: int, context: Context, renewal: Optional[int], renewed_at: Dict[int, List[int]]
) -> Judgement:
    """`renewed_at` has, by the place of an anchor, the times for which renewals vouch that cover it."""
    steps: List[Step] = []
    vouchers: List[Voucher] = []
    for place, anchor in enumerate(anchors):
        judged, voucher = _judge(anchor, root, size, context, renewed_at.get(place, []))
        steps += [step._replace(anchor=place, renewal=renewal) for step in judged]
        vouchers += [] if voucher is None else [voucher]
    return Judgement(steps, vouchers)


def skipped_anchors(anchors: List[Anchor], renewal: Optional[int], message: str) -> Judgement:
    """The same if nothing leads to the root."""
    steps = [
        Step(name, SKIPPED, message, anchor=place, renewal=renewal)
        for place, anchor in enumerate(anchors)
        for name in step_names(anchor)
    ]
    return Judgement(steps, [])
