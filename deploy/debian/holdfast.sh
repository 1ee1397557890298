#!/bin/sh
# Commands with the settings of the service: holdfast fsck
set -e
if [ ! -r /etc/holdfast/holdfast.env ]; then
  case "$1" in
    # These need no installation, and everybody may use them.
    verify | listen | trigger | login | logout | profiles | completion | help | --help | -h | --version | -V) ;;
    *)
      echo "/etc/holdfast/holdfast.env cannot be read: run this as root." >&2
      exit 1
      ;;
  esac
  exec /opt/holdfast/bin/holdfast "$@"
fi
set -a
. /etc/holdfast/holdfast.env
: "${HOLDFAST_DATA_DIR:=/var/lib/holdfast}"
[ -n "$HOLDFAST_MASTER_KEY" ] || : "${HOLDFAST_MASTER_KEY_FILE:=/etc/holdfast/master.key}"
set +a
exec /opt/holdfast/bin/holdfast "$@"
