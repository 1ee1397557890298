"""Receives Holdfast webhooks with Python's standard library (3.8 or newer):

    WEBHOOK_SECRET=whsec_… PORT=8080 python3 receiver.py

WEBHOOK_SCHEME says which signature decides: "standard" (the default: it covers the time too, and while a secret rotates
it holds both signatures) or "sha256". Choose one; accepting either would be as weak as the weaker one.
It speaks plain HTTP on loopback: put a proxy with a certificate in front of it.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET", "")
SCHEME = os.environ.get("WEBHOOK_SCHEME", "standard")
PORT = int(os.environ.get("PORT", "8080"))
SHA256_HEADER = "X-Service-Signature"  # the word Service is the operator's HOLDFAST_SERVICE_NAME
MAX_BODY_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 5 * 60
MAX_REMEMBERED = 10_000

if not SECRET.startswith("whsec_") or SCHEME not in ("standard", "sha256"):
    sys.exit("Set WEBHOOK_SECRET to the whsec_… of the endpoint, and WEBHOOK_SCHEME to standard or sha256.")


def is_standard(headers, body):
    """Standard Webhooks: HMAC over id, time and body, keyed with the bytes that the secret encodes."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET[len("whsec_") :])
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(is_equal(signature, expected) for signature in signatures)


def is_sha256(headers, body):
    """The service's own header: HMAC over the body alone, keyed with the secret's text."""
    expected = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return is_equal(headers.get(SHA256_HEADER, ""), expected)


def is_equal(given, expected):
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())


# Ids that were handled. In production: a unique key in your database, written in one commit with the work itself.
seen = OrderedDict()
seen_lock = threading.Lock()


def remember(event_id):
    with seen_lock:
        if event_id in seen:
            return False
        seen[event_id] = True
        if len(seen) > MAX_REMEMBERED:
            seen.popitem(last=False)
        return True


def handle(event):
    """Put the event into a queue of your own here: the sender waits 30 seconds at most."""
    print("handled", event.get("type"), event["id"], flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,12}", length):
            return self.answer(411)
        if int(length) > MAX_BODY_BYTES:
            return self.answer(413)
        # The bytes as they came: parsing and writing JSON again would change them, and the signature with them.
        body = self.rfile.read(int(length))
        verify = is_standard if SCHEME == "standard" else is_sha256
        if not verify(self.headers, body):
            return self.answer(401)
        try:
            event = json.loads(body)
        except ValueError:
            return self.answer(400)
        if not isinstance(event, dict) or not isinstance(event.get("id"), str):
            return self.answer(400)
        # The same event again: it was handled, so the answer is the same.
        if remember(event["id"]):
            handle(event)
        self.answer(204)

    def answer(self, status):
        # A body that was not read would be taken for the next request.
        self.close_connection = status in (411, 413)
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
