#!/bin/sh
# An upgrade leaves the service running until the new files are there.
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now holdfast.service
fi
