"""The client: a method for each operation of the API, and what most programs need around them."""

from __future__ import annotations

import ssl
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, TypeVar, Union

from . import schemas
from .errors import ConfirmationTimeout
from .event_stream import ReceivedEvent, follow_events, stream_events
from .event_types import EventType
from .operation import UNSET, CallOptions, Operation
from .operations import OPERATIONS, Operations
from .pages import Answer, Pages
from .transport import USUAL_RETRIES, USUAL_TIMEOUT, Transport

STREAM = Operation("GET", "/api-v1/platform/events/stream", ("type", "cursor"), is_repeatable=True, is_raw=True)

# Confirmed things have an anchor, and a proof can be had.
CONFIRMED = ("confirmed", "finalized")
FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0

Thing = TypeVar("Thing")


class Client(Operations):
    """Threads may share it."""

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str] = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
        retries: int = USUAL_RETRIES,
        timeout: float = USUAL_TIMEOUT,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._transport = Transport(base_url, api_key, headers or {}, retries, timeout, ssl_context)

    def request(self, name: str, arguments: Dict[str, Any], options: Optional[CallOptions] = None) -> Answer:
        """Calls an operation by its name, with the arguments as the API names them, and returns headers too."""
        return self._transport.send(OPERATIONS[name], arguments, options)

    def stream_events(
        self, *, cursor: str = UNSET, type: EventType = UNSET, options: Optional[CallOptions] = None
    ) -> Iterator[ReceivedEvent]:
        """Events as they happen, from the cursor on; without one from the next event on."""

        def ask(arguments: Dict[str, Any], own: CallOptions) -> Answer:
            return self._transport.send(STREAM, arguments, own)

        return stream_events(ask, cursor, type, options or {})

    def follow_events(
        self,
        *,
        cursor: str = UNSET,
        type: EventType = UNSET,
        poll: float = 1.0,
        options: Optional[CallOptions] = None,
    ) -> Iterator[ReceivedEvent]:
        """Events from the feed, oldest first, then new ones as they come."""

        def ask(arguments: Dict[str, Any], own: CallOptions) -> Answer:
            return self.request("list_events", arguments, own)

        return follow_events(ask, cursor, type, poll, options or {})

    def wait_until_confirmed(
        self,
        thing: Union[schemas.Record, schemas.File, schemas.Asset, Callable[[], Thing]],
        *,
        timeout: float = 600.0,
    ) -> Any:
        """Waits for a version of a record or a file, for an asset, or for whatever the function reads."""
        read = thing if callable(thing) else self._reader_of(thing)
        deadline = time.monotonic() + timeout
        pause = FIRST_PAUSE
        while True:
            found: Any = read()
            if found["status"] in CONFIRMED:
                return found
            left = deadline - time.monotonic()
            if left <= 0:
                raise ConfirmationTimeout(found["status"])
            time.sleep(min(pause, left))
            pause = min(LONGEST_PAUSE, pause * 1.5)

    def _reader_of(self, thing: Any) -> Callable[[], Any]:
        if "assetId" in thing:
            return lambda: self.get_asset(thing["assetId"])
        if "dataHash" in thing:
            return lambda: self.get_record(thing["id"], version=thing["version"])
        return lambda: self._file_version(thing["id"], thing["version"])

    def _file_version(self, file_id: str, version: int) -> schemas.File:
        newest = self.get_file(file_id)
        if newest["version"] == version:
            return newest
        for other in self.list_file_versions(file_id):
            if other["version"] == version:
                return other
        raise ValueError(f"The file {file_id} has no version {version}.")

    def _data(self, name: str, arguments: Dict[str, Any], options: Optional[CallOptions]) -> Any:
        return self._transport.send(OPERATIONS[name], arguments, options).data

    def _pages(self, name: str, arguments: Dict[str, Any], options: Optional[CallOptions]) -> Pages[Any]:
        return Pages(lambda asked: self._transport.send(OPERATIONS[name], asked, options), arguments)
