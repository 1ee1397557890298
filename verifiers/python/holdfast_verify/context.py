"""What a verification is given beside the document and the content."""

import time
from typing import NamedTuple, Optional

from .evm.node import Node
from .rfc3161.evidence import Document
from .trust import Trust

USUAL_REGISTRY = bytes.fromhex("cfaee48d743f42264aaf3521fc464606cfafe23a")


class Context(NamedTuple):
    """Trust, the time of judgement if one was given (in milliseconds), a node if there is one, and the registry.

    `document` has the timestamp anchors of the document that is verified.
    """

    trust: Trust
    at: Optional[int] = None
    node: Optional[Node] = None
    registry: bytes = USUAL_REGISTRY
    document: Document = Document([], [])

    def judged_at(self) -> int:
        """The time of judgement: the one that was given, or now."""
        return time.time_ns() // 1_000_000 if self.at is None else self.at

    def is_later(self, moment: int) -> bool:
        """Whether a time of judgement was given, and the moment is after it."""
        return self.at is not None and moment > self.at
