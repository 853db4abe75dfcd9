#!/bin/sh
# Gets the source that NAME/PIN pins and prints the folder it was unpacked to. Nothing else is written to standard output.
#
#   fetch.sh NAME             uses the cache, else `apt-get source`
#   LIVE_3RDPARTY_FILES=DIR   takes the .dsc and the two tarballs from DIR instead of the network
#
# The cache is ${XDG_CACHE_HOME:-$HOME/.cache}/live-server-3rdparty/PACKAGE-VERSION-HASH. The system's own apt configuration is only read.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
name=$1
# shellcheck source=st/PIN
. "$here/$name/PIN"

say() { echo "3rdparty/$name: $*" >&2; }
fail() {
    say "$*"
    exit 1
}

cache_root=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/live-server-3rdparty
cache=$cache_root/$package-$version-$(printf '%.12s' "$orig_sha256")
unpacked=$cache/source

# Copies the machine's own apt sources into $1, as source entries only. Both formats of sources files are understood.
write_source_entries() {
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -f "$file" ] || continue
        sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file"
    done >"$1/sources.list"
    mkdir -p "$1/parts"
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        sed 's/^Types:.*/Types: deb-src/' "$file" >"$1/parts/$(basename "$file")"
    done
}

private_apt() {
    apt-get -o Dir::Etc::SourceList="$apt_dir/sources.list" -o Dir::Etc::SourceParts="$apt_dir/parts" \
        -o Dir::State::Lists="$apt_dir/lists" -o Dir::Cache="$apt_dir/cache" -o APT::Sandbox::User=root "$@" >&2
}

download() {
    command -v apt-get >/dev/null || fail "apt-get is missing; put $dsc, $orig and $debian into a folder and set LIVE_3RDPARTY_FILES to it"
    say "getting $package $version through apt"
    if apt-get source --download-only "$package=$version" >/dev/null 2>&1 && [ -f "$orig" ]; then
        return
    fi
    # No source entries in the system's configuration: derive some, kept away from it.
    apt_dir=$work/apt
    mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial"
    write_source_entries "$apt_dir"
    private_apt update || say "apt-get update reported errors; trying all the same"
    private_apt source --download-only "$package=$version" ||
        fail "apt cannot find the source of $package $version; put $dsc, $orig and $debian into a folder and set LIVE_3RDPARTY_FILES to it"
}

verify() {
    [ -f "$1" ] || fail "$1 is missing"
    echo "$2  $1" | sha256sum --check --status || fail "$1 does not have the pinned sha256 $2"
}

if [ -f "$unpacked/.complete" ]; then
    echo "$unpacked"
    exit 0
fi
command -v dpkg-source >/dev/null || fail "dpkg-source is missing (package dpkg-dev)"
command -v sha256sum >/dev/null || fail "sha256sum is missing (package coreutils)"
mkdir -p "$cache"
work=$(mktemp -d "$cache/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
if [ -n "${LIVE_3RDPARTY_FILES:-}" ]; then
    cp "$LIVE_3RDPARTY_FILES/$dsc" "$LIVE_3RDPARTY_FILES/$orig" "$LIVE_3RDPARTY_FILES/$debian" .
else
    download
fi
verify "$orig" "$orig_sha256"
verify "$debian" "$debian_sha256"
[ -f "$dsc" ] || fail "$dsc is missing"
dpkg-source --no-check -x "$dsc" source >&2
touch source/.complete
# Somebody else may have been first; both have the same content.
[ -d "$unpacked" ] || mv source "$unpacked"
echo "$unpacked"
