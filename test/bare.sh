#!/bin/bash
# Runs a command as on a bare machine: test/bare.sh [--user NAME] COMMAND…, such as test/bare.sh npm test. The tests'
# optional programs (test/support/programs/table.ts) are neither on its PATH nor found elsewhere, and it has no terminal.
# With --user, which only root can, it runs as that user, whose home is closed; the checkout must belong to the user.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
user=
if [ "${1:-}" = --user ]; then
  user=$2
  shift 2
fi
if [ $# = 0 ]; then
  echo 'Usage: test/bare.sh [--user NAME] COMMAND…' >&2
  exit 2
fi

scratch=$(mktemp -d)
trap 'chmod -R u+rwX "$scratch"; rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
mkdir "$scratch/bin" "$scratch/home"
declare -A hidden
for name in $("$checkout/node_modules/.bin/node" "$checkout/test/support/programs/main.ts" commands); do
  hidden[$name]=1
done
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
  links=()
  for file in "$folder"/*; do
    name=${file##*/}
    if [ -x "$file" ] && [ -z "${hidden[$name]:-}" ]; then
      hidden[$name]=1 # by the first that has its name
      links+=("$file")
    fi
  done
  [ ${#links[@]} = 0 ] || ln -s -t "$scratch/bin" "${links[@]}"
done

run=(env "PATH=$scratch/bin" HOLDFAST_TEST_BARE=1)
if [ -n "$user" ]; then
  chmod 000 "$scratch/home"
  as=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --init-groups)
  run=("${as[@]}" "${run[@]}" "HOME=$scratch/home" "USER=$user" "LOGNAME=$user")
fi
# setsid: without the terminal.
setsid --wait "${run[@]}" "$@" </dev/null
