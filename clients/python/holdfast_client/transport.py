"""Sends operations: fills in path, query and body, makes the idempotency key, and tries again after failures."""

from __future__ import annotations

import http.client
import json
import re
import secrets
import ssl
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Mapping, Optional, Tuple
from urllib.parse import quote, urlencode, urlsplit

from .error_classes import ERROR_CLASSES
from .errors import ConnectionFailed, HoldfastError
from .operation import UNSET, CallOptions, Download, Operation
from .pages import Answer
from .retry import pause_before
from .upload import Upload

USUAL_RETRIES = 5
USUAL_TIMEOUT = 60.0


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect to another host would be sent the API key."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    def __init__(
        self,
        base_url: str,
        api_key: Optional[str],
        headers: Mapping[str, str],
        retries: int,
        timeout: float,
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise ValueError("base_url begins with http:// or https://.")
        self._base = base_url.rstrip("/")
        self._headers = {**({} if api_key is None else {"x-api-key": api_key}), **headers}
        self._retries = retries
        self._timeout = timeout
        handlers = [NoRedirect(), urllib.request.HTTPSHandler(context=ssl_context)]
        self._opener = urllib.request.build_opener(*handlers)

    def __repr__(self) -> str:
        return f"Transport({self._base!r})"

    def send(self, operation: Operation, arguments: Dict[str, Any], options: Optional[CallOptions]) -> Answer:
        given: CallOptions = options or {}
        path, body = distribute(operation, arguments)
        key = (given.get("idempotency_key") or secrets.token_hex(16)) if operation.takes_key else None
        file = body.pop("file", None)
        upload = None if file is None else Upload(body, file, given.get("on_progress"))
        headers = {
            "user-agent": "holdfast-client-python",
            **({} if key is None else {"idempotency-key": key}),
            **({"if-match": given["if_match"]} if "if_match" in given else {}),
            **({"content-type": "application/json"} if operation.takes_body else {}),
            **({"content-type": upload.content_type} if upload else {}),
            **self._headers,
            **given.get("headers", {}),
        }
        data = json.dumps(body, ensure_ascii=False, allow_nan=False).encode() if operation.takes_body else None
        # Whether a service is ready is what these ask: an answer that says no is not asked again.
        usual = self._retries if operation.path.startswith("/api-v1/") else 0
        retries = given.get("retries", usual) if upload is None or upload.is_repeatable else 0
        is_repeatable = operation.is_repeatable and "if_match" not in given
        tried = 0
        while True:
            try:
                answer = self._attempt(operation, path, headers, upload or data, given.get("timeout"), key)
            except (HoldfastError, ConnectionFailed) as error:
                pause = pause_before(error, tried, is_repeatable) if tried < retries else None
                if pause is None:
                    raise
                time.sleep(pause)
                tried += 1
                continue
            if "on_headers" in given:
                given["on_headers"](answer.headers)
            return answer

    def _attempt(
        self,
        operation: Operation,
        path: str,
        headers: Dict[str, str],
        body: Any,
        timeout: Optional[float],
        key: Optional[str],
    ) -> Answer:
        opened = body.open() if isinstance(body, Upload) else None
        request = urllib.request.Request(self._base + path, method=operation.method)
        for name, value in headers.items():
            request.add_unredirected_header(name, value)
        if opened is not None:
            request.data = opened
            length = None if opened.length is None else str(opened.length)
            name, value = ("Transfer-encoding", "chunked") if length is None else ("Content-length", length)
            request.add_unredirected_header(name, value)
        elif body is not None:
            request.data = body
        try:
            response = self._opener.open(request, timeout=timeout or self._timeout)
            if operation.is_raw:
                return answer_of(Download(response), response)
            with response:
                return answer_of(parsed(response), response)
        except urllib.error.HTTPError as error:
            if error.code == 304 and operation.is_raw:
                return answer_of(Download(error), error)
            with error:
                raise error_of(error, key) from None
        except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            host = urlsplit(self._base).netloc.rpartition("@")[2]
            raise ConnectionFailed(f"{host} did not answer: {reason}", idempotency_key=key) from error
        finally:
            if opened is not None:
                opened.close()


def distribute(operation: Operation, arguments: Dict[str, Any]) -> Tuple[str, Dict[str, Any]]:
    """Each argument belongs into the path, the query or the body."""
    in_path = re.findall(r"\{(\w+)\}", operation.path)
    path = operation.path
    query: Dict[str, str] = {}
    body: Dict[str, Any] = {}
    for name in in_path:
        value = arguments.get(name, UNSET)
        # An empty name would make the path that of another operation, and so would dots.
        if value is UNSET or value is None or re.fullmatch(r"\.{0,2}", str(value)):
            raise ValueError(f"{operation.method} {operation.path} needs {name}.")
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    for name, value in arguments.items():
        if value is UNSET or name in in_path:
            continue
        if name in operation.query:
            query[name] = str(value).lower() if isinstance(value, bool) else str(value)
        elif operation.takes_body:
            body[name] = value
        else:
            raise ValueError(f"{operation.method} {operation.path} takes no {name}.")
    return path + (f"?{urlencode(query)}" if query else ""), body


def answer_of(data: Any, response: Any) -> Answer:
    return Answer(data, response.status, response.headers, response.headers.get("x-next-cursor"))


def parsed(response: Any) -> Any:
    text = response.read().decode()
    if text == "":
        return None
    return json.loads(text) if "json" in response.headers.get("content-type", "") else text


def error_of(response: urllib.error.HTTPError, key: Optional[str]) -> HoldfastError:
    try:
        body = json.loads(response.read())
    except (ValueError, OSError, http.client.HTTPException):
        body = None

    def text(name: str, fallback: str = "") -> str:
        value = body.get(name) if isinstance(body, dict) else None
        return value if isinstance(value, str) else fallback

    # A newer service may have codes that this client does not know, and a proxy answers without one.
    kind = ERROR_CLASSES.get(text("errorCode"), HoldfastError)
    return kind(
        text("message", f"The service answered with the HTTP status {response.code}."),
        error_code=text("errorCode"),
        status=response.code,
        doc_url=text("docUrl"),
        timestamp=text("timestamp"),
        request_id=response.headers.get("x-request-id"),
        retry_after=retry_after_of(response.headers.get("retry-after")),
        budget=response.headers.get("x-budget"),
        idempotency_key=key,
    )


def retry_after_of(value: Optional[str]) -> Optional[float]:
    """Seconds, or a date."""
    if value is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", value.strip()):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
