"""Events as they happen: from the stream, or by asking the feed again and again. Both resume where they broke off."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional

from .errors import ConnectionFailed, HoldfastError
from .event_types import Event
from .operation import UNSET, CallOptions, Download
from .pages import Answer
from .retry import pause_before

# The service sends a comment every 15 s: a stream that is silent for longer has broken.
SILENCE = 45.0
LONGEST_PAUSE = 30.0
# Before the feed is asked again once all retries of a question have failed.
AWAY = 5.0

Ask = Callable[[Dict[str, Any], CallOptions], Answer]


@dataclass(frozen=True)
class ReceivedEvent:
    event: Event
    # Store it once the event is handled: with it no later event is missed. It fits the stream and the feed.
    cursor: str


@dataclass
class Message:
    id: Optional[str] = None
    data: Optional[str] = None
    retry: Optional[float] = None


def stream_events(ask: Ask, cursor: Any, type: Any, options: CallOptions) -> Iterator[ReceivedEvent]:
    """Never ends by itself. Raises what cannot be helped by trying again, such as a revoked key."""
    quiet = options.copy()
    quiet.setdefault("timeout", SILENCE)
    reconnect = 2.0
    failed = 0
    while True:
        try:
            answer = ask({"cursor": cursor, "type": type}, quiet)
            with answer.data as download:
                for message in messages_of(download):
                    failed = 0
                    reconnect = message.retry if message.retry is not None else reconnect
                    cursor = message.id if message.id is not None else cursor
                    if message.data is not None:
                        yield ReceivedEvent(json.loads(message.data), cursor)
        except HoldfastError as error:
            if pause_before(error, 0, True) is None:
                raise
        except (ConnectionFailed, OSError, http.client.HTTPException):
            pass
        time.sleep(min(LONGEST_PAUSE, reconnect * 2 ** max(0, failed - 1)))
        failed += 1


def follow_events(ask: Ask, cursor: Any, type: Any, poll: float, options: CallOptions) -> Iterator[ReceivedEvent]:
    """Never ends by itself. Some events may come again after a crash: skip those whose id you know."""
    while True:
        try:
            answer = ask({"cursor": cursor, "type": type, "limit": 1000}, options)
        except (HoldfastError, ConnectionFailed) as error:
            if pause_before(error, 0, True) is None:
                raise
            time.sleep(AWAY)
            continue
        events: List[Event] = answer.data
        following = answer.next_cursor or cursor
        for place, event in enumerate(events):
            # The cursor of the next page counts once all of this page is handled.
            done = following if place == len(events) - 1 else cursor
            yield ReceivedEvent(event, "" if done is UNSET else done)
        moved = following != cursor
        cursor = following
        if not events or not moved:
            time.sleep(poll)


def messages_of(download: Download) -> Iterator[Message]:
    """https://html.spec.whatwg.org/multipage/server-sent-events.html, as the service writes them."""
    message = Message()
    while line := download.response.readline():
        name, _, value = line.decode().rstrip("\r\n").partition(":")
        value = value[1:] if value.startswith(" ") else value
        if not line.strip():
            yield message
            message = Message()
        elif name == "id":
            message.id = value
        elif name == "data":
            message.data = value if message.data is None else f"{message.data}\n{value}"
        elif name == "retry" and value.isdecimal():
            message.retry = int(value) / 1000
