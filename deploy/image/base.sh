#!/bin/sh
# Makes the base of the image from Debian packages: sh deploy/image/base.sh NAME [SUITE]
set -eu
name=$1
suite=${2:-bookworm}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# No apt, no documentation, no translations: the service needs libstdc++, a shell and time zones. Node.js brings the
# certificates of the usual authorities; set NODE_EXTRA_CA_CERTS for others.
# With merged directories from the start, Debian does not install Perl to merge them.
mmdebstrap --variant=essential --include=usr-is-merged,libstdc++6,tzdata \
  --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/lib/*/gconv/*' \
  "$suite" "$work/base.tar"
container=$(buildah from scratch)
buildah add "$container" "$work/base.tar" /
buildah commit --rm "$container" "$name"
