#!/bin/sh
# The README's commands on a machine that has nothing: a bare root of a Debian release, made by debootstrap from this machine's own
# mirror, a clean clone of the committed tree in it, and then the commands of a new user. As root; needs debootstrap and git.
#
#   fresh-machine.sh RELEASE [run|test|newcomer|package|base|both]      RELEASE: bookworm, trixie, ...; default: both, which is run and test
#
#   run    ./trunk/scripts/run.sh: checks its output, reads the stream from it, and stops it
#   test   ./trunk/scripts/test.sh
#   newcomer   ./trunk/test/e2e/newcomer.sh
#   package   the packages of trunk/objs/packages (FRESH_PACKAGES): runs the tarball, installs the .deb, upgrades it while a stream plays, purges it
#   base   makes RELEASE-base.tar, a bare root whose package managers reach their registries, and prints its path; test/e2e/newcomer.sh starts from it
#
# FRESH_ROOTS (${XDG_CACHE_HOME:-~/.cache}/live-server/roots): RELEASE.tar there is the bare root, made once; FRESH_KEEP=1 leaves the root
# that was used as RELEASE.used. FRESH_CCACHE=DIR shows that compiler cache to the root. FRESH_MINUTES (150) is the most it may take.
#
# The root has its own mounts and processes, which end with the script; its network is this machine's. What makes the package managers
# here reach their registries (apt's Acquire settings, pip's and npm's configuration, own certificates) is copied into it.
set -eu
. "$(dirname -- "$0")/common.sh"

release=${1:-}
what=${2:-both}
case $what in run | test | newcomer | package | base | both) ;; *) release= ;; esac
if [ -z "$release" ]; then
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | sed '$d'
    exit 2
fi
[ "$(id -u)" = 0 ] || die "a root of its own needs root's rights"
for tool in debootstrap git unshare; do
    command -v $tool >/dev/null || die "missing: $tool (packages debootstrap, git, util-linux)"
done
if [ "${FRESH_INSIDE:-}" != 1 ]; then
    # Mounts and processes in namespaces of their own: nothing is left, however this ends.
    FRESH_INSIDE=1 exec timeout --foreground --kill-after=30 "${FRESH_MINUTES:-150}m" \
        unshare --mount --pid --fork --kill-child=KILL --mount-proc "$0" "$release" "$what"
fi

roots=${FRESH_ROOTS:-$cache_dir/roots}
root=$roots/$release.used
repository=$(git -C "$trunk" rev-parse --show-toplevel)
mkdir -p "$roots"

mirrors() { apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' | sort -u; }
mirror_of() { mirrors | sed -n "s/^$1|//p" | head -n 1; }

make_base() {
    mirror=$(mirror_of Debian)
    [ -n "$mirror" ] || { apt-get update -qq && mirror=$(mirror_of Debian); }
    [ -n "$mirror" ] || die "apt's lists on this machine know no mirror of Debian"
    say "Making a bare $release"
    rm -rf "$roots/$release.new"
    debootstrap --variant=minbase "$release" "$roots/$release.new" "$mirror" >"$roots/$release.log" 2>&1 || {
        tail -n 5 "$roots/$release.log" >&2
        die "debootstrap failed: $roots/$release.log"
    }
    echo "deb $mirror $release-updates main" >>"$roots/$release.new/etc/apt/sources.list"
    security=$(mirror_of Debian-Security)
    if [ -n "$security" ]; then echo "deb $security $release-security main" >>"$roots/$release.new/etc/apt/sources.list"; fi
    tar -C "$roots/$release.new" --exclude='./var/cache/apt/archives/*.deb' -cf "$roots/$release.tar.new" .
    mv "$roots/$release.tar.new" "$roots/$release.tar"
    rm -rf "$roots/$release.new"
}

# Unpacks the bare root, with what makes package managers here reach their registries.
unpack_root() {
    rm -rf "$root"
    mkdir -p "$root"
    tar -C "$root" -xf "$roots/$release.tar"
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/npmrc "$HOME/.npmrc"; do
        if [ -f $file ]; then cp -L $file "$root$file"; fi
    done
    apt-config dump | grep -iE '^Acquire::(Check-|Retries|https?::|ForceIPv4)' >"$root/etc/apt/apt.conf.d/90machine" || true
    # A root that is thrown away need not survive a loss of power.
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/90machine"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    if ls /usr/local/share/ca-certificates/*.crt >/dev/null 2>&1; then
        mkdir -p "$root/usr/local/share/ca-certificates"
        cp /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/"
        inside 'apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates >/var/log/ca.log 2>&1'
        rm -rf "$root"/var/lib/apt/lists/*
    fi
}

prepare_root() {
    unpack_root
    if [ -n "${FRESH_CCACHE:-}" ]; then
        mkdir -p "$root/root/.cache/ccache"
        mount --bind "$FRESH_CCACHE" "$root/root/.cache/ccache"
    fi
    # The committed tree, as a bundle, because the other side has no git yet.
    git clone --quiet --no-hardlinks "$repository" "$root/root/clone"
}

save_base() {
    root=$roots/$release.base
    unpack_root
    for place in proc sys dev; do umount -R -l "$root/$place"; done
    tar -C "$root" --exclude='./var/cache/apt/archives/*.deb' -cf "$roots/$release-base.tar.new" .
    mv "$roots/$release-base.tar.new" "$roots/$release-base.tar"
    rm -rf "$root"
}

# A login as a newcomer has it: little environment, no terminal.
inside() {
    # shellcheck disable=SC2046 # each word is NAME=VALUE
    env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
        $(env | grep -iE '^(https?_proxy|no_proxy|LIVE_PORT_BASE|FUZZ_SECONDS|JOBS|CI)=' | grep -v ' ') \
        chroot "$root" sh -c "$1"
}

try_run() {
    say "== $release: ./trunk/scripts/run.sh"
    began=$(date +%s)
    : >"$roots/$release-run.log"
    inside 'cd ~/clone && echo $$ >~/run.pid && exec ./trunk/scripts/run.sh' >"$roots/$release-run.log" 2>&1 &
    runner=$!
    until grep -q 'Ctrl-C stops it' "$roots/$release-run.log"; do
        if ! kill -0 $runner 2>/dev/null; then
            cat "$roots/$release-run.log"
            say "== $release: run.sh ended before it served anything"
            return 1
        fi
        sleep 1
    done
    took=$(($(date +%s) - began))
    status=0
    inside 'ffprobe -v error -show_entries stream=codec_name -of csv=p=0 -rw_timeout 20000000 rtmp://127.0.0.1/live/livestream' \
        >"$roots/$release-probe.log" 2>&1 || status=1
    cat "$roots/$release-run.log"
    say "== $release: after $took s it served: $(tr '\n' ' ' <"$roots/$release-probe.log")"
    # A shell in the background cannot be sent Ctrl-C's signal; to run.sh this one is the same.
    kill -TERM "$(cat "$root/root/run.pid")"
    wait $runner || status=1
    say "== $release: run.sh ended"
    return $status
}

# try_script NAME SCRIPT
try_script() {
    say "== $release: ./trunk/$2"
    status=0
    inside "cd ~/clone && ./trunk/$2" >"$roots/$release-$1.log" 2>&1 || status=1
    cat "$roots/$release-$1.log"
    return $status
}

# waits_for SECONDS COMMAND...
waits_for() {
    tries=$(($1 * 5))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { say "== $release: in vain: $*"; return 1; }
        sleep 0.2
    done
}
pid_of_service() { cat "$root/var/lib/millrace/srs.pid" 2>/dev/null; }
answers() { ffprobe -v error -rw_timeout 5000000 -show_entries stream=codec_name -of csv=p=0 "$1" 2>/dev/null | grep -q h264; }

try_tarball() {
    inside 'mkdir -p /opt/elsewhere && tar -C /opt/elsewhere -xf /opt/packages/millrace-*-linux-*.tar.gz && cd /opt/elsewhere/* && ./objs/srs -v' || return 1
    sed -i "s/1935;/$rtmp;/; s/127.0.0.1:1985;/127.0.0.1:$api;/; s/8080;/$http;/; s/8000;/$rtc;/" "$root"/opt/elsewhere/*/conf/srs.conf
    inside 'cd / && /opt/elsewhere/*/etc/init.d/srs start && /opt/elsewhere/*/etc/init.d/srs status && /opt/elsewhere/*/etc/init.d/srs stop'
}

# Installs it, starts it as the unit does, upgrades it with a publisher and a player connected, and purges it.
try_deb() {
    inside 'apt-get update -qq && apt-get install -y -qq --no-install-recommends /opt/packages/millrace_*-1_*.deb >/var/log/deb.log 2>&1' || { cat "$root/var/log/deb.log"; return 1; }
    conf=$root/etc/millrace/millrace.conf
    sed -i "s/1935;/$rtmp;/; s/127.0.0.1:1985;/127.0.0.1:$api;/; s/8080;/$http;/; s/ 8000;/ $rtc;/; s/ 10080;/ $srt;/" "$conf"
    inside 'man -w srs 2>/dev/null; ls -l /usr/share/man/man8/srs.8.gz /etc/millrace; runuser -u millrace -- srs -t -c /etc/millrace/millrace.conf' || return 1
    inside 'exec runuser -u millrace -- srs -c /etc/millrace/millrace.conf' >"$roots/$release-server.log" 2>&1 &
    waits_for 20 test -s "$root/var/lib/millrace/srs.pid" || return 1
    for page in '' docs/ console/; do waits_for 20 curl -fsS -o /dev/null "http://127.0.0.1:$http/$page" || return 1; done
    old=$(pid_of_service)
    url=rtmp://127.0.0.1:$rtmp/live/a
    ffmpeg -v error -re -f lavfi -i testsrc=size=320x240:rate=25 -c:v libx264 -preset ultrafast -g 25 -f flv "$url" </dev/null >"$roots/$release-publisher.log" 2>&1 &
    publisher=$!
    waits_for 20 answers "$url" || return 1
    ffmpeg -v error -rw_timeout 10000000 -i "$url" -c copy -f null - </dev/null >"$roots/$release-player.log" 2>&1 &
    player=$!
    # The same program with the next revision.
    deb=$(ls "$root"/opt/packages/millrace_*-1_*.deb)
    dpkg-deb -R "$deb" "$root/opt/next" && sed -i '/^Version:/s/-1$/-2/' "$root/opt/next/DEBIAN/control" && dpkg-deb --root-owner-group -b "$root/opt/next" "$root/opt/packages/next.deb" >/dev/null
    inside 'apt-get install -y -qq --no-install-recommends /opt/packages/next.deb' >"$roots/$release-upgrade.log" 2>&1 || { cat "$roots/$release-upgrade.log"; return 1; }
    new=$(pid_of_service)
    say "== $release: upgraded from process $old to $new: $(grep -h upgraded "$roots/$release-upgrade.log")"
    [ "$new" != "$old" ] && answers "$url" && kill -0 $publisher && kill -0 $player && [ ! -s "$roots/$release-player.log" ] || { cat "$roots/$release-upgrade.log"; return 1; }
    grep -q "$rtmp;" "$conf" || { say "== $release: the upgrade has changed the conf file"; return 1; }
    kill $publisher $player
    inside 'apt-get purge -y -qq millrace >/var/log/purge.log 2>&1' || { cat "$root/var/log/purge.log"; return 1; }
    left=$(inside 'find / -xdev \( -path /root -o -path /proc -o -path /var/cache -o -path /var/log -o -path /opt \) -prune -o -iname "*millrace*" -print; ls -d /var/log/millrace 2>/dev/null
        getent passwd millrace; getent group millrace; dpkg -l millrace 2>/dev/null | grep "^[a-z][a-z] "; true')
    [ -z "$left" ] || { say "== $release: purge has left: $left"; return 1; }
    ! kill -0 "$new" 2>/dev/null || { say "== $release: process $new runs after the purge"; return 1; }
    say "== $release: purged, nothing is left"
}

try_package() {
    say "== $release: packages"
    mkdir -p "$root/opt/packages"
    cp "${FRESH_PACKAGES:-$trunk/objs/packages}"/millrace* "$root/opt/packages/"
    base=${LIVE_PORT_BASE:-27000}
    rtmp=$((base + 91)) api=$((base + 92)) http=$((base + 93)) rtc=$((base + 94)) srt=$((base + 95))
    for part in tarball deb; do
        try_$part || { say "== $release: $part failed"; return 1; }
        say "== $release: $part passed"
    done
}

[ -f "$roots/$release.tar" ] || make_base >&2
if [ "$what" = base ]; then
    [ "$roots/$release-base.tar" -nt "$roots/$release.tar" ] || save_base >&2
    echo "$roots/$release-base.tar"
    exit 0
fi
prepare_root
say "== $(. "$root/etc/os-release" && echo "$PRETTY_NAME")"
failed=0
case $what in run | both) try_run || failed=1 ;; esac
case $what in test | both) try_script test scripts/test.sh || failed=1 ;; esac
case $what in package) try_package || failed=1 ;; esac
case $what in newcomer) try_script newcomer test/e2e/newcomer.sh || failed=1 ;; esac
# The mounts below it are this namespace's and go with it; a folder that is mounted on cannot be removed.
for place in root/.cache/ccache proc sys dev; do umount -R -l "$root/$place" 2>/dev/null || true; done
if [ "${FRESH_KEEP:-}" != 1 ] && ! grep -qs " $root" /proc/self/mountinfo; then rm -rf "$root"; fi
exit $failed
