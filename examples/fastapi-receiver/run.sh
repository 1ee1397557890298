#!/bin/sh
# Installs what the receiver needs into .venv, and starts it. What Debian has installed (python3-fastapi) is used as it is.
set -eu
cd "$(dirname "$0")"
if python3 -c 'import fastapi, uvicorn' 2>/dev/null; then
  PYTHONPATH=../../clients/python:../../verifiers/python exec python3 receiver.py
fi
[ -d .venv ] || python3 -m venv .venv
.venv/bin/pip install --quiet --requirement requirements.txt
exec .venv/bin/python receiver.py
