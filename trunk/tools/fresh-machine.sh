#!/bin/sh
# Proves that a clone works on a machine with nothing on it: makes a minimal Debian in a folder, clones the committed tree into it and
# runs scripts/test.sh and scripts/run.sh there. Uses this machine's own apt sources, apt settings and proxies; changes nothing outside the
# folder. Needs root, debootstrap, git; mounts are private and end with it. Takes an hour; everything in it has a time limit.
#
#   fresh-machine.sh [--suite bookworm] [--folder DIR] [--keep] [build|test|run]...      (default: test run)
#
#   build   packages, configure and make only
#   --keep  leaves the folder; a later call with the same --folder starts from it
set -eu

trunk=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
repository=$(dirname "$trunk")
suite=bookworm folder='' keep=no what=
fail() {
    echo "fresh-machine: $*" >&2
    exit 1
}
while [ $# -gt 0 ]; do
    case $1 in
        --suite) suite=$2; shift ;;
        --folder) folder=$2; shift ;;
        --keep) keep=yes ;;
        build | test | run) what="$what $1" ;;
        *) fail "unknown argument $1" ;;
    esac
    shift
done
what=${what:-test run}

[ "$(id -u)" = 0 ] || fail "chroot wants root"
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"

# Everything below runs in a mount namespace of its own, so that nothing stays mounted whatever happens.
if [ "${FRESH_MACHINE_INSIDE:-}" != yes ]; then
    FRESH_MACHINE_INSIDE=yes exec unshare --mount --propagation private "$0" --suite "$suite" ${folder:+--folder "$folder"} \
        $([ $keep = no ] || echo --keep) $what
fi

folder=${folder:-${TMPDIR:-/tmp}/fresh-machine.$$}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
[ "$folder" != / ] || fail "not into /"
# Inside: a clone, where nobody's home is.
inside=/srv/live
cleanup() {
    status=$?
    umount -R "$folder/proc" "$folder/dev" 2>/dev/null || true
    if [ $keep = no ]; then rm -rf --one-file-system "$folder"; fi
    exit $status
}
trap cleanup EXIT
trap 'exit 130' INT TERM

setting() { apt-config dump --format '%v%n' "$1" 2>/dev/null | head -n 1; }

# The mirror that serves this suite here, else the one that debootstrap knows.
mirror() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        awk -v suite="$suite" '$2 == suite && $3 == "main" { print $1; exit }'
}

make_root() {
    if [ -f "$folder/.fresh-machine" ]; then
        echo "fresh-machine: using the root file system in $folder"
        return
    fi
    [ -z "$(ls -A "$folder")" ] || fail "$folder is not empty"
    proxy=$(setting Acquire::http::Proxy)
    if [ -n "$proxy" ]; then export http_proxy="$proxy"; fi
    # shellcheck disable=SC2046 # no mirror is no argument
    timeout 1200 debootstrap --variant=minbase "$suite" "$folder" $(mirror) || fail "debootstrap failed, see $folder/debootstrap/debootstrap.log"
    # The machine's own ways to packages. Passwords are not copied.
    apt-config dump | grep '^Acquire::' >"$folder/etc/apt/apt.conf.d/90machine" || true
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ -f "$file" ] || continue
        grep -q "$suite" "$file" || continue
        if [ "$file" = /etc/apt/sources.list ]; then cp "$file" "$folder/etc/apt/sources.list"; else
            : >"$folder/etc/apt/sources.list"
            cp "$file" "$folder/etc/apt/sources.list.d/"
        fi
    done
    if ls /usr/local/share/ca-certificates/*.crt >/dev/null 2>&1; then
        mkdir -p "$folder/usr/local/share/ca-certificates"
        cp /usr/local/share/ca-certificates/*.crt "$folder/usr/local/share/ca-certificates/"
    fi
    touch "$folder/.fresh-machine"
}

mount_parts() {
    mount -t proc proc "$folder/proc" || fail "cannot mount proc"
    mount --rbind /dev "$folder/dev" || fail "cannot bind /dev"
    cp /etc/resolv.conf /etc/hosts "$folder/etc/"
}

# Proxies and package index settings of this shell, by name; their values are not looked at.
passed_on() {
    env | sed -n 's/^\(PIP_[A-Z_]*\|[a-zA-Z]*_proxy\|[A-Z]*_PROXY\|SSL_CERT_FILE\|REQUESTS_CA_BUNDLE\)=.*/\1/p'
}

in_root() { # SECONDS command...
    limit=$1
    shift
    for name in $(passed_on); do
        eval "value=\$$name"
        set -- "$name=$value" "$@"
    done
    timeout --kill-after=10 "$limit" chroot "$folder" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
}

clone() {
    rm -rf "$folder$inside"
    git -c safe.directory='*' clone -q --no-hardlinks "$repository" "$folder$inside" || fail "cannot clone $repository"
    if [ -d "$repository/.git" ] && [ -n "$(git -c safe.directory='*' -C "$repository" status --porcelain)" ]; then
        echo "fresh-machine: only what is committed is tested; there are uncommitted changes"
    fi
}

check_run() {
    in_root 3000 "$inside/trunk/scripts/run.sh" >"$folder/run.log" 2>&1 &
    runner=$!
    tries=0
    until grep -q '^Ctrl-C stops it' "$folder/run.log"; do
        tries=$((tries + 1))
        if ! kill -0 $runner 2>/dev/null || [ $tries -gt 1400 ]; then
            tail -n 40 "$folder/run.log"
            fail "run.sh did not come up"
        fi
        sleep 2
    done
    sed -n '/The server runs/,$p' "$folder/run.log"
    url=$(sed -n 's/^  RTMP  *\(rtmp[^ ]*\).*/\1/p' "$folder/run.log")
    sleep 3
    in_root 60 ffprobe -v error -show_entries stream=codec_name -of csv=p=0 "$url" >"$folder/probe.log" 2>&1 || true
    # timeout hands the signal to run.sh, which stops the server.
    kill -TERM $runner
    wait $runner || true
    cat "$folder/probe.log"
    grep -q h264 "$folder/probe.log" && grep -q aac "$folder/probe.log" || fail "the stream of run.sh could not be probed"
    echo "fresh-machine: run.sh works"
}

make_root
mount_parts
clone
for one in $what; do
    echo "fresh-machine: $one"
    case $one in
        build) in_root 2400 /bin/sh -c "cd $inside/trunk && scripts/install-packages.sh && ./configure && make" ;;
        test) in_root 5400 "$inside/trunk/scripts/test.sh" ;;
        run) check_run ;;
    esac
done
echo "fresh-machine: done"
