"""JSON-RPC over HTTP, with a few tries after temporary errors (section "On the command line")."""

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any, List

from ..outcome import Skips
from .node import Transport

NOT_NOW = "The chain is not available right now, try again"
_TRIES = 5
_MOST_WAIT = 2.0
_TIMEOUT = 20.0
_MOST_BYTES = 64 << 20
_TEMPORARY_STATUS = (429, 503)
_TEMPORARY_CODES = (-32002, -32005, -32007, -32016)


class _Temporary(Exception):
    """The node may answer a moment later."""


class HttpTransport(Transport):
    """A node at a URL."""

    def __init__(self, url: str) -> None:
        self._url = url

    def call(self, method: str, parameters: List[Any]) -> Any:
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(min(_MOST_WAIT, 0.125 * 2**attempt))
            try:
                return self._try(method, parameters)
            except _Temporary:
                continue
        raise Skips(f"{NOT_NOW}: the node did not answer {method}.", not_now=True)

    def _try(self, method: str, parameters: List[Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
        try:
            request = urllib.request.Request(self._url, body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
                text = response.read(_MOST_BYTES + 1)
            answer = json.loads(text) if len(text) <= _MOST_BYTES else None
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _TEMPORARY_STATUS:
                    raise _Temporary from error
            raise Skips(f"The node answered {method} with the status {error.code}.") from error
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            raise Skips(f"The node gave no answer to {method}: {error}.") from error
        if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
            if answer["error"].get("code") in _TEMPORARY_CODES:
                raise _Temporary
            raise Skips(f"The node answered {method} with an error.")
        if not isinstance(answer, dict) or "result" not in answer:
            raise Skips(f"The node's answer to {method} is not JSON-RPC.")
        return answer["result"]
