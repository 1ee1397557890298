"""Steps, vouchers and the verdict (section "Verifying")."""

from typing import Any, Callable, Dict, List, NamedTuple, Optional

from .outcome import Fails, Skips

PASS, FAIL, SKIPPED, INCOMPLETE = "pass", "fail", "skipped", "incomplete"


class Step(NamedTuple):
    """One step: what it is about, how it ended, and why. Places count from 0, as in the document."""

    name: str
    status: str
    message: str
    anchor: Optional[int] = None
    renewal: Optional[int] = None
    not_now: bool = False

    def to_json(self) -> Dict[str, Any]:
        """As `--json` prints it."""
        result: Dict[str, Any] = {"name": self.name}
        if self.renewal is not None:
            result["renewal"] = self.renewal
        if self.anchor is not None:
            result["anchor"] = self.anchor
        result.update(status=self.status, message=self.message)
        if self.not_now:
            result["notNow"] = True
        return result


class Voucher(NamedTuple):
    """A clock that is trusted: the time for which it vouches, in milliseconds, who it is, and whether the shipped trust has it."""

    time: int
    who: str
    is_shipped: bool


class Result(NamedTuple):
    """What came out. `vouchers` are sorted, the earliest first."""

    verdict: str
    summary: str
    vouchers: List[Voucher]
    steps: List[Step]


def step_of(name: str, check: Callable[[], str]) -> Step:
    """A step from its check, which returns what to say, or raises."""
    try:
        return Step(name, PASS, check())
    except Fails as failure:
        return Step(name, FAIL, str(failure))
    except Skips as reason:
        return Step(name, SKIPPED, str(reason), not_now=reason.not_now)


def failed(steps: List[Step]) -> bool:
    """Whether one step failed."""
    return any(step.status == FAIL for step in steps)


def passed(steps: List[Step]) -> bool:
    """Whether all passed."""
    return all(step.status == PASS for step in steps)
