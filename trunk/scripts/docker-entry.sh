#!/bin/sh
# The entry point of a container. The server replaces this process, so that it receives signals:
#   (nothing)                             ./objs/srs -c conf/docker.conf
#   -c conf/x.conf                        options of the server
#   ./objs/srs -c conf/docker.conf        a command, the server's or any other
set -eu
cd "$(dirname -- "$0")/.."
case ${1:-} in
    '') exec ./objs/srs -c conf/docker.conf ;;
    -*) exec ./objs/srs "$@" ;;
    *) exec "$@" ;;
esac
