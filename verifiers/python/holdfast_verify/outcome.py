"""How a check ends. A rule that does not hold raises `Fails`, a missing input raises `Skips`; see "Verifying" in docs/proof.md."""


class Fails(Exception):
    """Something contradicts the proof, or cannot be read: the step fails."""


class Skips(Exception):
    """Something that is needed is missing: the step is skipped, which never counts as passed."""

    def __init__(self, message: str, not_now: bool = False) -> None:
        super().__init__(message)
        self.not_now = not_now


def require(holds: bool, message: str) -> None:
    """One rule of the specification: the step fails with `message` unless it holds."""
    if not holds:
        raise Fails(message)
