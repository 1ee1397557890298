"""Calls the API of Holdfast with Python's standard library. See README.md."""

from .client import Client
from .errors import ConfirmationTimeout, ConnectionFailed, HoldfastError, WebhookVerificationError
from .event_stream import ReceivedEvent
from .event_types import Event, EventType
from .operation import UNSET, CallOptions, Download
from .pages import Answer, Page, Pages
from .upload import FileToSend, NamedFile
from .verification import verify_history, verify_proof
from .webhooks import TestEvent, WebhookEvent, verify_webhook

__all__ = [
    "UNSET",
    "Answer",
    "CallOptions",
    "Client",
    "ConfirmationTimeout",
    "ConnectionFailed",
    "Download",
    "Event",
    "EventType",
    "FileToSend",
    "HoldfastError",
    "NamedFile",
    "Page",
    "Pages",
    "ReceivedEvent",
    "TestEvent",
    "WebhookEvent",
    "WebhookVerificationError",
    "verify_history",
    "verify_proof",
    "verify_webhook",
]
__version__ = "0.1.0"
