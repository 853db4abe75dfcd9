#!/bin/sh
# Gets the source of a package that we compile and prints the folder it was unpacked to. Nothing else is written to standard output.
#
#   fetch.sh NAME             uses the cache, else `apt-get source`
#   LIVE_3RDPARTY_FILES=DIR   takes the files from DIR instead of the network: the upstream tarball of a version that NAME/PIN knows, or
#                             the .dsc of any version with its files
#
# NAME/PIN lists the versions that we know. Another one that the archive signs is taken too, with a line that says so; whoever compiles
# it tests it first (check.c beside the PIN). The distributions' patches are not needed: where an archive has no packaging files, the upstream
# tarball alone serves.
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
files=${LIVE_3RDPARTY_FILES:-}

known_versions() { echo "$known" | awk 'NF { print $1 }'; }
# known_field VERSION N: the Nth word of its line in the PIN; nothing when it is not there.
known_field() { echo "$known" | awk -v version="$1" -v n="$2" '$1 == version { print $n }'; }
# The folder of a version, from the start of its upstream file's hash.
folder_of() { echo "$cache_root/$package-$1-$(printf '%.12s' "$2")/source"; }
is_complete() { [ -f "$1/.complete" ]; }

hash_of() { sha256sum "$1" | cut -d' ' -f1; }
has_hash() { [ -f "$1" ] && [ "$(hash_of "$1")" = "$2" ]; }

# What is there already: a version that we know, else one that was taken before.
use_cache() {
    for version in $(known_versions); do
        folder=$(folder_of "$version" "$(known_field "$version" 3)")
        if is_complete "$folder"; then finish "$folder"; fi
    done
    for folder in "$cache_root/$package"-[0-9]*/source; do
        if is_complete "$folder"; then
            say "compiling $folder, which is not a version that we know"
            finish "$folder"
        fi
    done
}
finish() {
    echo "$1"
    exit 0
}

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

# A program of apt, with the source entries of `apt_dir` once there is one.
with_apt() {
    program=$1
    shift
    if [ -z "$apt_dir" ]; then
        "$program" "$@"
    else
        "$program" -o Dir::Etc::SourceList="$apt_dir/sources.list" -o Dir::Etc::SourceParts="$apt_dir/parts" \
            -o Dir::State::Lists="$apt_dir/lists" -o Dir::Cache="$apt_dir/cache" -o APT::Sandbox::User=root "$@"
    fi
}
apt_dir=

# The versions that the archive has, highest first.
archive_versions() {
    with_apt apt-cache showsrc "$package" 2>/dev/null | awk -v package="$package" '
        /^Package:/ { ours = $2 == package } /^Version:/ && ours { print $2 }' | sort -rVu
}

by_hand="put the upstream tarball of a version that $here/$name/PIN knows into a folder and set LIVE_3RDPARTY_FILES to it"

# Sets version. One that we know, if the archive has it; else its highest.
choose_from_archive() {
    command -v apt-get >/dev/null || fail "apt-get is missing; $by_hand"
    offered=$(archive_versions)
    if [ -z "$offered" ]; then
        # No source entries in the system's configuration: derive some, kept away from it.
        apt_dir=$work/apt
        mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial"
        write_source_entries "$apt_dir"
        with_apt apt-get update >&2 || say "apt-get update reported errors; trying all the same"
        offered=$(archive_versions)
    fi
    [ -n "$offered" ] || fail "apt has no source of $package; $by_hand"
    for version in $offered; do
        if [ -n "$(known_field "$version" 1)" ]; then return; fi
    done
    version=$(echo "$offered" | head -n 1)
}

download() {
    choose_from_archive
    say "getting $package $version through apt"
    # What was signed for is checked by apt, file by file; a file that the archive does not give is missed below.
    with_apt apt-get source --download-only "$package=$version" >"$work/log" 2>&1 || true
    if ! ls ./*.orig.tar.?z* >/dev/null 2>&1; then
        tail -n 5 "$work/log" >&2
        fail "apt cannot get the source of $package $version; $by_hand"
    fi
}

# Sets version and copies its files here.
take_files() {
    for version in $(known_versions); do
        orig=$(known_field "$version" 2)
        if has_hash "$files/$orig" "$(known_field "$version" 3)"; then
            cp "$files/$orig" .
            for file in "${package}_$version.dsc" "$(known_field "$version" 4)"; do
                if [ -f "$files/$file" ]; then cp "$files/$file" .; fi
            done
            return
        fi
    done
    dsc=$(cd "$files" && ls "$package"_*.dsc 2>/dev/null | sort -V | tail -n 1)
    [ -n "$dsc" ] || fail "$files has neither the upstream tarball of a version that $here/$name/PIN knows, unchanged, nor a .dsc of $package"
    version=$(awk '/^Version:/ { print $2; exit }' "$files/$dsc")
    # The files it names; dpkg-source checks their hashes.
    for file in $(awk '/^Checksums-Sha256:/ { on = 1; next } /^[^ ]/ { on = 0 } on { print $3 }' "$files/$dsc"); do
        cp "$files/$file" . || fail "$files/$file is missing"
    done
    cp "$files/$dsc" .
}

# Into the folder `source`, from what is here.
unpack() {
    dsc=${package}_$version.dsc
    if [ -f "$dsc" ] && ls ./*.debian.tar.* >/dev/null 2>&1 && command -v dpkg-source >/dev/null; then
        dpkg-source --no-check -x "$dsc" source >&2
        return
    fi
    say "$package $version without the distribution's packaging: the upstream source alone"
    mkdir source
    tar -xf "$orig" -C source --strip-components=1
}

command -v sha256sum >/dev/null || fail "sha256sum is missing (package coreutils)"
if [ -z "$files" ]; then use_cache; fi
mkdir -p "$cache_root"
work=$(mktemp -d "$cache_root/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/here"
cd "$work/here"
if [ -n "$files" ]; then take_files; else download; fi
# shellcheck disable=SC2012 # names of a Debian package
orig=$(ls ./*.orig.tar.?z* | grep -v '\.asc$' | head -n 1)
orig=${orig#./}
hash=$(hash_of "$orig")
wanted=$(known_field "$version" 3)
if [ -z "$wanted" ]; then
    if echo "$known" | grep -q "$hash"; then
        say "taking $package $version: a packaging that we do not know, of an upstream source that we do"
    else
        say "taking $package $version, which is not a version that we know (sha256 $hash); it is tested before it is compiled in"
    fi
elif [ "$wanted" != "$hash" ]; then
    fail "$orig does not have the known sha256 $wanted"
fi
packaging=$(known_field "$version" 4)
if [ -n "$packaging" ] && [ -f "$packaging" ] && ! has_hash "$packaging" "$(known_field "$version" 5)"; then
    fail "$packaging does not have the known sha256 $(known_field "$version" 5)"
fi
unpacked=$(folder_of "$version" "$hash")
if ! is_complete "$unpacked"; then
    unpack
    touch source/.complete
    mkdir -p "$(dirname "$unpacked")"
    # Somebody else may have been first; both have the same content.
    [ -d "$unpacked" ] || mv source "$unpacked"
fi
echo "$unpacked"
