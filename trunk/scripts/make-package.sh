#!/bin/sh
# Builds the packages of the server in OBJS/packages: a .deb for this release of Debian or Ubuntu, a tarball that runs from any folder, the
# bill of materials (SPDX), and their checksums. Called by `make package` after the build.
#
#   make-package.sh OBJS
#
# SOURCE_DATE_EPOCH fixes the times in them; default: the last commit. PACKAGE_MAINTAINER="NAME <ADDRESS>" is the maintainer of the .deb;
# PACKAGE_LEVEL (9) is the compression, from 1 to 9.
set -eu
. "$(dirname -- "$0")/common.sh"
objs=$(cd "$1" && pwd)
for tool in dpkg-deb dpkg-shlibdeps objcopy patchelf; do
    command -v $tool >/dev/null || die "missing: $tool; $trunk/scripts/install-packages.sh package"
done
version=$("$objs/srs" -v)
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$trunk" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
maintainer=${PACKAGE_MAINTAINER:-The authors of Millrace <millrace@localhost>}
packages=$objs/packages
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$packages"
rm -f "$packages"/millrace*
umask 022

# Keeps the names of functions, for stack traces and profiles; lines and types go to a file of their own.
strip_program() {
    objcopy --only-keep-debug --compress-debug-sections "$objs/srs" "$packages/millrace-$version.debug"
    objcopy --strip-debug "$objs/srs" "$work/srs"
    (cd "$packages" && objcopy --add-gnu-debuglink="millrace-$version.debug" "$work/srs")
}

pages_into() { # FOLDER
    "$trunk/scripts/make-pages.sh" --list | while read -r name; do
        if [ -f "$objs/nginx/html/$name" ]; then install -D -m 644 "$objs/nginx/html/$name" "$1/$name"; fi
    done
}

deb_files() {
    install -D -m 755 "$work/srs" "$root/usr/sbin/srs"
    ln -s srs "$root/usr/sbin/millrace"
    pages_into "$root/usr/share/millrace/html"
    install -D -m 644 "$debian/millrace.conf" "$root/etc/millrace/millrace.conf"
    install -D -m 644 "$debian/millrace.service" "$root/usr/lib/systemd/system/millrace.service"
    mkdir -p "$root/usr/lib/millrace"
    sed -e 's|^ROOT=.*|ROOT=/var/lib/millrace|' -e 's|^CONFIG=.*|CONFIG=/etc/millrace/millrace.conf|' "$trunk/etc/init.d/srs" >"$root/usr/lib/millrace/control"
    chmod 755 "$root/usr/lib/millrace/control"
    mkdir -p "$root/usr/share/man/man8" "$root/usr/share/bash-completion/completions"
    python3 "$trunk/tools/packaging/command_pages.py" man "$work/srs" | gzip -9n >"$root/usr/share/man/man8/srs.8.gz"
    ln -s srs.8.gz "$root/usr/share/man/man8/millrace.8.gz"
    python3 "$trunk/tools/packaging/command_pages.py" completion "$work/srs" >"$root/usr/share/bash-completion/completions/srs"
    ln -s srs "$root/usr/share/bash-completion/completions/millrace"
    doc=$root/usr/share/doc/millrace
    mkdir -p "$doc/examples" "$root/usr/share/lintian/overrides"
    install -m 644 "$debian/copyright" "$doc/copyright"
    install -m 644 "$packages/millrace-$version.spdx.json" "$doc/sbom.spdx.json"
    gzip -9nc "$trunk/../CHANGELOG.md" >"$doc/changelog.gz"
    printf 'millrace (%s-1) stable; urgency=medium\n\n  * Release %s; the changes are in changelog.gz.\n\n -- %s  %s\n' \
        "$version" "$version" "$maintainer" "$(date -Ru -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.Debian.gz"
    install -m 644 "$trunk"/conf/*.conf "$doc/examples/"
    install -m 644 "$debian/lintian-overrides" "$root/usr/share/lintian/overrides/millrace"
}

make_deb() {
    debian=$trunk/packaging/debian
    root=$work/deb
    deb_files
    mkdir -p "$root/DEBIAN" "$work/shlibs/debian"
    install -m 755 "$debian/postinst" "$debian/prerm" "$debian/postrm" "$root/DEBIAN/"
    echo /etc/millrace/millrace.conf >"$root/DEBIAN/conffiles"
    # dpkg-shlibdeps reads a control file of sources.
    printf 'Source: millrace\n\nPackage: millrace\nArchitecture: any\n' >"$work/shlibs/debian/control"
    libraries=$(cd "$work/shlibs" && dpkg-shlibdeps -O "$work/srs" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
    [ -n "$libraries" ] || die "dpkg-shlibdeps finds no library of the server"
    cat >"$root/DEBIAN/control" <<CONTROL
Package: millrace
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root" | cut -f1)
Depends: $libraries, adduser
Recommends: ca-certificates, ffmpeg
Section: video
Priority: optional
Description: live-streaming server for RTMP, SRT, WebRTC, HLS and DASH
 Encoders publish over RTMP, SRT, WebRTC (WHIP) or HTTP-FLV, and viewers play
 each stream over RTMP, HTTP-FLV, MPEG-TS, SRT, HLS, DASH or WebRTC (WHEP).
 .
 Conf files, command line, HTTP API and callbacks are those of SRS 7; the code
 is independent. ffmpeg brings the libraries that convert audio and make
 snapshots.
CONTROL
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    chmod 644 "$root/DEBIAN/control" "$root/DEBIAN/md5sums" "$root/DEBIAN/conffiles"
    dpkg-deb --root-owner-group -Zxz "-z${PACKAGE_LEVEL:-9}" --build "$root" "$packages/millrace_$version-1_$architecture.deb" >/dev/null
}

# The tree of `make install`, with the libraries beside it that a bare system lacks; glibc is the system's.
make_tarball() {
    name=millrace-$version-linux-$architecture
    tree=$work/$name
    "$trunk/scripts/install.sh" "$objs" "$tree" /usr/local/srs conf/srs.conf >/dev/null
    rm -f "$tree"/objs/sb_*
    install -m 755 "$work/srs" "$tree/objs/srs"
    pages_into "$tree/objs/nginx/html"
    # The scripts find the tree that they are in.
    install -m 755 "$trunk/etc/init.d/srs" "$tree/etc/init.d/srs"
    mkdir "$tree/lib"
    ldd "$work/srs" | awk '$3 ~ "^/" { print $3 }' | grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' | while read -r file; do
        install -m 644 "$(readlink -f "$file")" "$tree/lib/$(basename "$file")"
    done
    patchelf --set-rpath '$ORIGIN/../lib' "$tree/objs/srs"
    install -m 644 "$trunk/../LICENSE" "$trunk/../CHANGELOG.md" "$packages/millrace-$version.spdx.json" "$tree/"
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip "-${PACKAGE_LEVEL:-9}n" >"$packages/$name.tar.gz"
}

strip_program
python3 "$trunk/tools/packaging/sbom.py" "$trunk" "$objs/srs" "$version" >"$packages/millrace-$version.spdx.json"
make_deb
make_tarball
(cd "$packages" && sha256sum millrace* >SHA256SUMS)
say "Packages in $packages:"
(cd "$packages" && ls -l millrace* | awk '{ printf "  %9d  %s\n", $5, $9 }')
