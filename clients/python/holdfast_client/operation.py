"""How to send an operation, and what a call may say beside its arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, TypedDict

from .pages import Pages

# Not given, which is something else than None.
UNSET: Any = type("Unset", (), {"__repr__": lambda self: "UNSET"})()


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    # Arguments that belong into the query.
    query: Tuple[str, ...] = ()
    takes_key: bool = False
    takes_body: bool = False
    is_list: bool = False
    # Sending it twice does what sending it once does.
    is_repeatable: bool = False
    # Answers with something else than JSON.
    is_raw: bool = False


class CallOptions(TypedDict, total=False):
    # For operations that create something. Made for you if you give none, and kept across retries.
    idempotency_key: str
    # The ETag of what you have read: the change is refused if it is no longer the newest.
    if_match: str
    headers: Dict[str, str]
    # Seconds that a connection may be silent.
    timeout: float
    # How often to try again; overrides that of the client.
    retries: int
    # Called with the bytes sent and the bytes in total (None if nobody knows), while a file is sent.
    on_progress: Callable[[int, Optional[int]], None]
    # Called with the headers of the answer: X-Evidence, ETag, X-Request-Id.
    on_headers: Callable[[Mapping[str, str]], None]


class Download:
    """An answer that is not JSON, read as it comes. Close it, or use it in a `with` statement."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers

    def read(self, size: int = -1) -> bytes:
        return bytes(self.response.read() if size < 0 else self.response.read(size))

    def close(self) -> None:
        self.response.close()

    def __enter__(self) -> "Download":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Caller:
    """What the methods of the operations are built on."""

    def _data(self, name: str, arguments: Dict[str, Any], options: Optional[CallOptions]) -> Any:
        raise NotImplementedError

    def _pages(self, name: str, arguments: Dict[str, Any], options: Optional[CallOptions]) -> Pages[Any]:
        raise NotImplementedError
