#!/bin/sh
# Installs every optional program of the tests that Debian has: test/tools.sh, as root, after npm ci. Elsewhere it only
# says what to install. The names are in test/support/programs/table.ts.
set -eu
here=$(dirname "$0")
packages=$("$here/../node_modules/.bin/node" "$here/support/programs/main.ts" packages)

missing=
for package in $packages; do
  status=$(dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = 'install ok installed' ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "Install, by the names of Debian's packages:$missing" >&2
  exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Services of theirs are not started: policy-rc.d says no, unless the machine has an opinion.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod 755 $policy
  trap 'rm -f "$log" $policy' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
if ! { apt-get update && apt-get install --yes --no-install-recommends -o DPkg::Lock::Timeout=300 $missing; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  exit 1
fi
