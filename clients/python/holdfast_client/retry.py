"""Whether and when a failed request is sent again."""

from __future__ import annotations

import random
from typing import Optional

from .errors import ConnectionFailed, HoldfastError

# A service that asks for more than this is not waited for.
LONGEST_WAIT = 120.0
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0

# The service did nothing of these requests, so that anyone may send them again.
NOT_DONE = (429, 503)
# These may have been carried out, wholly or not at all.
MAYBE_DONE = (408, 500, 502, 504)


def pause_before(error: Exception, attempt: int, is_repeatable: bool) -> Optional[float]:
    """Seconds to wait before the next attempt; None: do not try again. `attempt` counts from 0."""
    if isinstance(error, ConnectionFailed):
        return backoff(attempt) if is_repeatable else None
    if not isinstance(error, HoldfastError):
        return None
    is_worth_it = (
        error.status in NOT_DONE
        or error.error_code == "idempotency_in_progress"
        or (is_repeatable and error.status in MAYBE_DONE)
    )
    if not is_worth_it or (error.retry_after or 0) > LONGEST_WAIT:
        return None
    return error.retry_after if error.retry_after is not None else backoff(attempt)


def backoff(attempt: int) -> float:
    """Doubles each time; the random part keeps clients from coming back all at once."""
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)) * random.uniform(0.5, 1)
