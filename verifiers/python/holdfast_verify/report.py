"""What people and programs get to read: the verdict first, whom it trusts, then the steps (section "On the command line")."""

from typing import Any, Dict, List

from .clock import format_time
from .history import HistoryResult
from .result import Result, Step, Voucher


def _label(step: Step) -> str:
    renewal = "" if step.renewal is None else f"renewal {step.renewal + 1} "
    anchor = "" if step.anchor is None else f"anchor {step.anchor + 1} "
    own_name = "" if step.name == "renewal" else step.name
    return (renewal + anchor + own_name).strip()


def _step_lines(steps: List[Step]) -> List[str]:
    width = max(len(_label(step)) for step in steps)
    return [f"{_label(step):{width}}  {step.status:7}  {step.message}" for step in steps]


def _chosen_by(voucher: Voucher) -> str:
    return "built into this verifier" if voucher.is_shipped else "the choice of whoever gave --trust"


def result_text(result: Result) -> str:
    """A proof for people."""
    lines = [f"{result.verdict.upper()}: {result.summary}", ""]
    if result.vouchers:
        lines.append("Trusted for the time:")
        lines += [f"  {format_time(voucher.time)}  {voucher.who} ({_chosen_by(voucher)})" for voucher in result.vouchers]
    else:
        lines.append("Nobody is trusted for a time.")
    return "\n".join([*lines, "", *_step_lines(result.steps)])


def history_text(result: HistoryResult) -> str:
    """A history for people."""
    parts = [f"{result.verdict.upper()}: {result.summary}", "\n".join(_step_lines([result.chain]))]
    parts += [f"Proof {place}\n{result_text(proof)}" for place, proof in enumerate(result.proofs, 1)]
    return "\n\n".join(parts)


def result_json(result: Result) -> Dict[str, Any]:
    """A proof for programs."""
    return {
        "verdict": result.verdict,
        "summary": result.summary,
        "vouchers": [
            {"time": voucher.time, "by": voucher.who, "isShipped": voucher.is_shipped} for voucher in result.vouchers
        ],
        "steps": [step.to_json() for step in result.steps],
    }


def history_json(result: HistoryResult) -> Dict[str, Any]:
    """A history for programs."""
    return {
        "verdict": result.verdict,
        "chain": {"status": result.chain.status, "message": result.chain.message},
        "proofs": [result_json(proof) for proof in result.proofs],
    }
