"""What calls raise: an error that the service answered with, or that no answer came."""

from __future__ import annotations

from typing import Optional


class HoldfastError(Exception):
    """The service refused the request, or failed. There is a subclass for each error code."""

    def __init__(
        self,
        message: str,
        *,
        error_code: str,
        status: int,
        doc_url: str = "",
        timestamp: str = "",
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        budget: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.error_code = error_code
        self.status = status
        self.doc_url = doc_url
        self.timestamp = timestamp
        # The id of the request in the log of the service.
        self.request_id = request_id
        # Seconds that the service asks to wait.
        self.retry_after = retry_after
        # The budget that was exceeded.
        self.budget = budget
        # Repeat the call with this key: what was already created is returned, and not created again.
        self.idempotency_key = idempotency_key


class ConnectionFailed(Exception):
    """No answer came: the request may have been carried out."""

    def __init__(self, message: str, *, idempotency_key: Optional[str] = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class ConfirmationTimeout(Exception):
    """Not confirmed in time. It is not lost: ask again later."""

    def __init__(self, status: str) -> None:
        super().__init__(f"It was not confirmed in time: its status is {status}.")
        self.status = status


class WebhookVerificationError(Exception):
    """The request does not come from the service, was changed, or is too old. Answer with 401."""
