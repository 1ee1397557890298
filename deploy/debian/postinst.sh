#!/bin/sh
# Makes the account and, at the first installation, the master key. An upgrade restarts the service if it runs.
set -e
[ "$1" = configure ] || exit 0
systemd-sysusers holdfast.conf
chmod 0755 /etc/holdfast
if [ ! -e /etc/holdfast/master.key ]; then
  (umask 077; od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > /etc/holdfast/master.key.new)
  mv /etc/holdfast/master.key.new /etc/holdfast/master.key
  echo "The master key is in /etc/holdfast/master.key: keep a copy elsewhere. Without it, backups are worthless."
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart holdfast.service
fi
[ -n "$2" ] || echo "Start it with: systemctl enable --now holdfast"
