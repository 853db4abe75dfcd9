#!/bin/sh
# Collects a release in OBJS/release: the sources of the committed tree, the section of CHANGELOG.md, the packages, and the checksums of all.
# Called by `make release` after `make package`.
#
#   make-release.sh OBJS [--draft]      --draft: also when the changelog has no date yet, or files are not committed
set -eu
. "$(dirname -- "$0")/common.sh"
objs=$(cd "$1" && pwd)
draft=${2:-}
version=$("$objs/srs" -v)
release=$objs/release
top=$(git -C "$trunk" rev-parse --show-toplevel)

# The lines below `## VERSION`, up to the next section.
section() { awk -v version="$version" '/^## / { inside = ($2 == version || $2 == version ","); next } inside' "$top/CHANGELOG.md"; }
[ -n "$(section)" ] || die "CHANGELOG.md has no section for $version"
if [ "$draft" != --draft ]; then
    if grep -qE "^## $version,? not released" "$top/CHANGELOG.md"; then die "CHANGELOG.md: $version has no date; DRAFT=1 makes a draft"; fi
    [ -z "$(git -C "$top" status --porcelain --untracked-files=no)" ] || die "files are not committed; DRAFT=1 makes a draft"
fi
[ -f "$objs/packages/SHA256SUMS" ] || die "no packages in $objs/packages: make package"
rm -rf "$release"
mkdir -p "$release"
git -C "$top" archive --format=tar --prefix="millrace-$version/" HEAD | gzip -9n >"$release/millrace-$version.tar.gz"
section >"$release/CHANGES.md"
echo "$version" >"$release/VERSION"
find "$objs/packages" -maxdepth 1 -name 'millrace*' -exec cp {} "$release/" \;
(cd "$release" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | sort | xargs sha256sum >SHA256SUMS)
say "Release $version in $release:"
(cd "$release" && ls -l | awk 'NR > 1 { printf "  %9d  %s\n", $5, $9 }')
