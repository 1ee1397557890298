#!/bin/sh
# The data and the master key stay, also when the package is purged: they are evidence, and only an operator may delete them.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "$1" = purge ]; then
  echo "Left: /var/lib/holdfast and /etc/holdfast/master.key"
fi
