#!/bin/sh
# Checks one Holdfast webhook with a POSIX shell and openssl: in a script, behind CGI, or by hand when a signature puzzles.
#
#   WEBHOOK_SECRET=whsec_… ./verify.sh HEADERS [BODY]
#
# HEADERS is a file with one "Name: value" a line, BODY a file with the exact bytes (default: standard input). Prints
# "handled ID", or "duplicate ID" when it was here before, and ends with 0; else says why not, and ends with 1.
# Both signatures are shown; WEBHOOK_SCHEME says which one decides: standard (the default: it covers the time too, and
# while a secret rotates it holds both signatures) or sha256. Ids that were handled are kept in WEBHOOK_SEEN (./seen).
set -eu

sha256_header=x-service-signature # the word service is the operator's HOLDFAST_SERVICE_NAME, in lower case
max_body_bytes=1048576
tolerance_seconds=300

refuse() {
  echo "refused: $1" >&2
  exit 1
}

# The value of a header, whatever the case of its name.
header() {
  tr -d '\r' <"$headers" | awk -v name="$1" '
    tolower(substr($0, 1, length(name) + 1)) == name ":" {
      sub(/^[^:]*:[ \t]*/, ""); sub(/[ \t]*$/, ""); print; exit
    }'
}

to_hex() { od -An -v -tx1 | tr -d ' \n'; }

# Hexadecimal $1 as bytes, each XORed with $2, filled up with zeros to $3 bytes.
bytes() {
  rest=$1 count=0 octal=
  while [ -n "$rest" ] || [ "$count" -lt "$3" ]; do
    byte=${rest%"${rest#??}"}
    byte=$((0x${byte:-0} ^ $2))
    octal=$octal\\$((byte / 64))$((byte / 8 % 8))$((byte % 8))
    rest=${rest#??}
    count=$((count + 1))
  done
  printf "$octal"
}

# HMAC-SHA256 of standard input under the key $1 (hexadecimal, at most 64 bytes). "openssl dgst -hmac KEY" does the same
# in one line, but shows the key to everybody who can list the processes of this machine.
hmac() {
  inner=$({ bytes "$1" 0x36 64 && cat; } | openssl dgst -sha256 -binary | to_hex)
  { bytes "$1" 0x5c 64 && bytes "$inner" 0 0; } | openssl dgst -sha256 -binary | to_hex
}

# A shell cannot compare in constant time. Hashes under a fresh random word tell nothing about where two texts differ.
nonce=$(openssl rand -hex 16)
same() { [ "$(printf %s "$nonce$1" | openssl dgst -sha256)" = "$(printf %s "$nonce$2" | openssl dgst -sha256)" ]; }

check_standard() {
  id=$(header webhook-id) timestamp=$(header webhook-timestamp)
  case $timestamp in '' | 0* | *[!0-9]* | ?????????????*) return 1 ;; esac
  age=$(($(date +%s) - timestamp))
  [ "$age" -le "$tolerance_seconds" ] && [ "$age" -ge "-$tolerance_seconds" ] || return 1
  key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | to_hex)
  sum=$({ printf '%s.%s.' "$id" "$timestamp" && cat "$body"; } | hmac "$key")
  expected=v1,$(bytes "$sum" 0 0 | openssl base64 -A)
  set -f
  for signature in $(header webhook-signature); do
    if same "$signature" "$expected"; then return 0; fi
  done
  return 1
}

check_sha256() {
  key=$(printf %s "$WEBHOOK_SECRET" | to_hex)
  same "$(header "$sha256_header")" "sha256=$(hmac "$key" <"$body")"
}

headers=${1:?"usage: WEBHOOK_SECRET=whsec_… $0 HEADERS [BODY]"}
case ${WEBHOOK_SECRET:-} in whsec_?*) ;; *) refuse "set WEBHOOK_SECRET to the whsec_… of the endpoint" ;; esac
scheme=${WEBHOOK_SCHEME:-standard}
seen=${WEBHOOK_SEEN:-seen}

body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat -- "${2:--}" | head -c $((max_body_bytes + 1)) >"$body"
[ "$(wc -c <"$body")" -le "$max_body_bytes" ] || refuse "the body is too large"

standard=no sha256=no
if check_standard; then standard=yes; fi
if check_sha256; then sha256=yes; fi
echo "standard: $standard, sha256: $sha256" >&2
case $scheme in
  standard) [ $standard = yes ] || refuse "no signature in webhook-signature fits, or the time is off" ;;
  sha256) [ $sha256 = yes ] || refuse "the signature in $sha256_header does not fit" ;;
  *) refuse "set WEBHOOK_SCHEME to standard or sha256" ;;
esac

# The id stands first in the envelope, and both signatures cover it there.
id=$(head -c 200 "$body" | sed -n 's/^{"id":"\([A-Za-z0-9_-]*\)".*/\1/p')
[ -n "$id" ] || refuse "this is not an event"

# Of several that try at once mkdir lets one through. In production: a unique key in your database, written in one commit
# with the work itself.
mkdir -p "$seen"
if mkdir "$seen/$id" 2>/dev/null; then
  echo "handled $id"
elif [ -d "$seen/$id" ]; then
  echo "duplicate $id"
else
  refuse "$seen cannot be written"
fi
