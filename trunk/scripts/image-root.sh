#!/bin/sh
# Assembles the file system of the container image: the installation, the shared libraries that it needs, a shell, perl for the health check,
# the certificates of the system, and the user. There is no package manager, and nothing else of a distribution. The Dockerfile runs this in its
# first stage; the second one is the result. The tests run it too.
#
#   image-root.sh INSTALLED ROOT        INSTALLED: what `make install DESTDIR=` made; ROOT: the folder to fill
set -eu
installed=$1 root=$2
programs='dash perl cat dirname env ls mkdir sleep'

# A file of this system, or the target of a link, at its own path.
take() { cp --parents -L "$1" "$root"; }
libraries_of() { ldd "$@" 2>/dev/null | grep -oE '/[^ ]+\.so[^ ]*' | sort -u; }

mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/etc" "$root/proc" "$root/sys" "$root/dev" "$root/run" "$root/var"
install -d -m 1777 "$root/tmp" "$root/var/tmp"
# As on every distribution today: /lib is /usr/lib.
for folder in bin sbin lib lib64; do
    mkdir -p "$root/usr/$folder"
    ln -s "usr/$folder" "$root/$folder"
done
cp -a "$installed/." "$root/"
for program in $programs; do
    path=$(readlink -f "$(command -v "$program")")
    install -m 755 "$path" "$root/usr/bin/$program"
    libraries_of "$path" >>"$root/libraries"
done
ln -s dash "$root/usr/bin/sh"
libraries_of "$installed/usr/local/srs/objs/srs" >>"$root/libraries"
sort -u "$root/libraries" | while read -r library; do take "$library"; done
rm "$root/libraries"
# The modules that the scripts use are in perl-base.
dpkg -L perl-base | grep -E '^/usr/lib/.*/perl-base/.*\.(pm|pl|so|al|ix)$' | while read -r file; do take "$file"; done
take /etc/ssl/certs/ca-certificates.crt
take /usr/lib/os-release
ln -s ../usr/lib/os-release "$root/etc/os-release"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
printf 'root:x:0:0:root:/root:/usr/sbin/nologin\nsrs:x:1935:1935::/usr/local/srs:/usr/sbin/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nsrs:x:1935:\n' >"$root/etc/group"
if [ "$(id -u)" = 0 ]; then chown -R 1935:1935 "$root/usr/local/srs"; fi
du -sm --apparent-size "$root" | awk '{ print "the image has " $1 " MB" }'
