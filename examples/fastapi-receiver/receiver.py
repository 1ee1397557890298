"""Receives Holdfast webhooks with FastAPI: checks the signature, stores the event once, answers, and works afterwards.

It speaks plain HTTP on loopback: put a proxy with a certificate in front of it.
"""

import os
import socket
import sys

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from inbox import Inbox, answer

SECRET = os.environ.get("WEBHOOK_SECRET", "")
MAX_BODY_BYTES = 1024 * 1024

if not SECRET.startswith("whsec_"):
    sys.exit("Set WEBHOOK_SECRET to the whsec_… of the endpoint.")


def work(event):
    """May run again after a crash, always with the same event id: pass that on as the key of what must happen once."""
    print("handled", event["type"], event["id"], flush=True)


inbox = Inbox(os.environ.get("DATABASE", "inbox.sqlite"), work)
inbox.start()
app = FastAPI()


@app.post("/")
async def receive(request: Request) -> Response:
    # The signature covers the bytes as they came, so nothing may parse them before it was checked.
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return Response(status_code=413)
    return Response(status_code=await run_in_threadpool(answer, inbox, SECRET, request.headers, body))


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "8080"))
    listener = socket.create_server(("127.0.0.1", port))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
