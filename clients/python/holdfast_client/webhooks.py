"""Checks the signature of a webhook, and reads its event."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import Callable, Literal, Mapping, Sequence, TypedDict, Union

from .errors import WebhookVerificationError
from .event_types import Event


class TestEventData(TypedDict):
    endpoint_id: str


class TestEvent(TypedDict):
    """What an endpoint receives when it is saved or tested."""

    id: str
    type: Literal["webhook.test"]
    timestamp: str
    workspace_id: str
    data: TestEventData


WebhookEvent = Union[Event, TestEvent]
Get = Callable[[str], str]


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    scheme: Literal["standard", "sha256"] = "standard",
    service_name: str = "Service",
    tolerance: float = 300,
) -> WebhookEvent:
    """Raises a WebhookVerificationError unless the signature is right. Skip types of events that you do not know.

    `body` is the bytes as they came: JSON that was parsed and written again has another signature. `secret` is that of
    the endpoint (whsec_…); while it is being rotated, both. The scheme `standard` is that of Standard Webhooks and
    covers the time too, which may be off by `tolerance` seconds; `sha256` is the header X-Service-Signature, in which
    `service_name` is the operator's HOLDFAST_SERVICE_NAME.
    """
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not all(one.startswith("whsec_") for one in secrets):
        raise ValueError("A secret begins with whsec_.")
    lowered = {name.lower(): value for name, value in headers.items()}

    def header(name: str) -> str:
        return lowered.get(name.lower()) or ""

    if scheme == "standard":
        check_time(header("webhook-timestamp"), tolerance)
    for one in secrets:
        if is_standard(body, header, one) if scheme == "standard" else is_sha256(body, header, one, service_name):
            return read_event(body)
    raise WebhookVerificationError("The signature does not match.")


def check_time(timestamp: str, tolerance: float) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise WebhookVerificationError("webhook-timestamp is missing.")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The request is too old, or a clock is wrong.")


def is_standard(body: bytes, header: Get, secret: str) -> bool:
    """https://github.com/standard-webhooks/standard-webhooks: keyed with the bytes that the secret encodes."""
    signed = f"{header('webhook-id')}.{header('webhook-timestamp')}.".encode() + body
    key = base64.b64decode(secret[len("whsec_") :])
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return any(is_equal(signature, expected) for signature in header("webhook-signature").split(" "))


def is_sha256(body: bytes, header: Get, secret: str, service_name: str) -> bool:
    """The body alone, keyed with the text of the secret."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return is_equal(header(f"x-{service_name}-signature"), expected)


def is_equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())


def read_event(body: bytes) -> WebhookEvent:
    event = json.loads(body)
    if not isinstance(event, dict) or not all(isinstance(event.get(name), str) for name in ("id", "type")):
        raise ValueError("The body is not an event.")
    return event  # type: ignore[return-value]
