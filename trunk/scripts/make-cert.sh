#!/bin/sh
# Makes conf/server.key and conf/server.crt, the pair that the sample confs use for TLS: RSA 2048, self-signed, for localhost, valid for
# ten years. Does nothing when both are there. They are made on each machine and never committed: a private key in a repository is none.
#
#   make-cert.sh [FOLDER]   FOLDER: where to, instead of trunk/conf
set -eu
trunk=$(cd "$(dirname -- "$0")/.." && pwd)
folder=${1:-$trunk/conf}
if [ -s "$folder/server.key" ] && [ -s "$folder/server.crt" ]; then exit 0; fi
command -v openssl >/dev/null || { echo "make-cert.sh: openssl is not installed; no TLS sample pair is made" >&2; exit 0; }
umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM HUP
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=localhost \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1' -keyout "$work/server.key" -out "$work/server.crt" 2>"$work/log" || {
    cat "$work/log" >&2
    exit 1
}
mv "$work/server.key" "$work/server.crt" "$folder/"
chmod 644 "$folder/server.crt"
