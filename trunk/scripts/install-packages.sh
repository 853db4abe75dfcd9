#!/bin/sh
# Installs the packages that are missing, by name, on Debian 12, Ubuntu 24.04 and their like. Safe to run again: when nothing is
# missing it touches nothing and needs no rights. As root, or with sudo.
#
#   install-packages.sh [--list] [build|pages|run|test|bench|profile|lint|players|package|newcomer|arm64|all]...    (default: run)
#
#   build    compiler, CMake and the libraries we stand on
#   pages    npm, which fetches the two libraries of the player page, and the generator of the manual
#   run      build and pages, and the packages of a demonstration: ffmpeg, a font for the clock, curl
#   test     run and players, and test libraries, clang with libFuzzer, pytest, valgrind, Chromium, other clients
#   bench    the micro benchmark library and the server we compare with
#   profile  gperftools, gdb, valgrind, perf, strace
#   lint     clang-tidy
#   players  mpv, VLC and GStreamer, 100 MB: publishers and players of the e2e tests
#   package  packages and their checks
#   newcomer   package, and bare roots, machines and containers made of them: debootstrap, systemd-nspawn, buildah, podman
#   arm64    cross compiler, qemu and the libraries of aarch64
set -eu
. "$(dirname -- "$0")/common.sh"

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
list_only=no
apt_options='-o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -qq'

command -v apt-get >/dev/null 2>&1 ||
    die "no apt-get here: install what is in the list of $0 by the names of your distribution, then run ./configure"

native=$(dpkg --print-architecture)
# A name without an architecture means the native one; a foreign twin of it does not count.
have() {
    wanted=$native
    case $1 in *:*) wanted=${1#*:} ;; esac
    dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$1" 2>/dev/null | grep -qxE "($wanted|all) installed"
}

root_apt() {
    if [ -n "$sudo" ] && ! command -v sudo >/dev/null 2>&1; then
        die "packages are missing and this is neither root nor is there sudo; as root: apt-get install $missing"
    fi
    # shellcheck disable=SC2086 # the options are several words
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get $apt_options "$@"
}

lists_present() { ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1; }

# The fuzzer's runtime is a package of its own, named by the version of the default clang.
clang_runtime() {
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/\1/p' | head -n 1)
    [ -n "$version" ] || return 0
    if apt-cache show "libclang-rt-$version-dev" >/dev/null 2>&1; then echo "libclang-rt-$version-dev"; fi
}

# An npm from elsewhere serves as well, and its package and this one exclude each other.
npm_package() { command -v npm >/dev/null 2>&1 || echo npm; }

# Any that is there serves. If none is, the one without a window: the same pages cost it less than half of the CPU time. Where the
# distribution has no such package (Ubuntu has a snap), the tests of the pages are skipped.
chromium_package() {
    for name in chromium-headless-shell chromium chromium-browser google-chrome; do
        if command -v $name >/dev/null 2>&1; then return; fi
    done
    for name in chromium-headless-shell chromium; do
        if apt-cache show $name >/dev/null 2>&1; then
            echo $name
            return
        fi
    done
}

# Any Go will do.
go_package() { command -v go >/dev/null 2>&1 || echo golang-go; }

# For x86-64 alone, and not everywhere; OpenSSL does without it.
cipher_package() { if apt-cache show libipsec-mb-dev >/dev/null 2>&1; then echo libipsec-mb-dev; fi; }

# Ubuntu has it with each kernel.
perf_package() {
    if command -v perf >/dev/null 2>&1; then return; fi
    if apt-cache show linux-perf >/dev/null 2>&1; then echo linux-perf; else echo linux-tools-generic; fi
}

packages_of() {
    case $1 in
        build) echo "build-essential cmake ninja-build ccache pkg-config dpkg-dev ca-certificates python3" \
            "libssl-dev libfmt-dev nlohmann-json3-dev liburing-dev libhiredis-dev zlib1g-dev libavcodec-dev libswscale-dev libswresample-dev" \
            "libnghttp2-dev libargon2-dev" \
            "$(cipher_package)" ;;
        pages) echo "$(npm_package) python3-markdown" ;;
        run) echo "$(packages_of build) $(packages_of pages) ffmpeg fonts-dejavu-core curl openssl" ;;
        test) echo "$(packages_of run) libgtest-dev libbenchmark-dev clang lld llvm $(clang_runtime) python3 python3-venv python3-pytest" \
            "python3-hypothesis python3-pytest-xdist python3-yaml $(chromium_package) valgrind git rtmpdump srt-tools procps iproute2" \
            "redis-server patchelf lintian python3-h2 $(go_package)" "$(packages_of players)" ;;
        bench) echo "$(packages_of run) libbenchmark-dev python3 nginx libnginx-mod-rtmp wrk" ;;
        profile) echo "$(packages_of run) libgoogle-perftools-dev google-perftools graphviz gdb valgrind strace $(perf_package)" ;;
        lint) echo "$(packages_of build) git python3 python3-venv clang-tidy" ;;
        players) echo "mpv vlc-bin vlc-plugin-base vlc-plugin-access-extra gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good" \
            "gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-rtsp obs-studio xvfb" ;;
        package) echo "$(packages_of build) $(packages_of pages) patchelf lintian" ;;
        newcomer) echo "$(packages_of package) debootstrap git systemd-container buildah podman crun containernetworking-plugins iptables iproute2 util-linux curl" ;;
        arm64) echo "$(packages_of build) crossbuild-essential-arm64 qemu-user libssl-dev:arm64 libfmt-dev:arm64 libhiredis-dev:arm64 zlib1g-dev:arm64 libnghttp2-dev:arm64 libargon2-dev:arm64" \
            "libgtest-dev:arm64" ;;
        all) for set in build pages run test bench profile lint players package newcomer; do packages_of $set; done ;;
        *) die "unknown set \"$1\": build pages run test bench profile lint players package newcomer arm64 all" ;;
    esac
}

# Sets missing: the packages that are not installed, each once.
find_missing() {
    missing=
    for name in $(for set in $sets; do packages_of "$set"; done); do
        case " $missing " in *" $name "*) continue ;; esac
        have "$name" || missing="${missing:+$missing }$name"
    done
}

add_arm64() {
    if dpkg --print-foreign-architectures | grep -qx arm64 || [ "$(dpkg --print-architecture)" = arm64 ]; then return; fi
    if [ -n "$sudo" ]; then sudo dpkg --add-architecture arm64; else dpkg --add-architecture arm64; fi
    root_apt update
}

sets=
for argument in "$@"; do
    case $argument in
        --list) list_only=yes ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) packages_of "$argument" >/dev/null; sets="$sets $argument" ;;
    esac
done
sets=${sets:-run}
if [ $list_only = yes ]; then
    for set in $sets; do packages_of "$set"; done | tr ' ' '\n' | sort -u
    exit 0
fi
case " $sets " in *" arm64 "*) add_arm64 ;; esac
find_missing
[ -n "$missing" ] || exit 0
lists_present || root_apt update
find_missing
say "Installing: $missing"
# shellcheck disable=SC2086 # one word a package
if ! root_apt install -y --no-install-recommends $missing >/dev/null; then
    # Old lists name versions that the mirror no longer has.
    root_apt update
    # shellcheck disable=SC2086
    root_apt install -y --no-install-recommends $missing >/dev/null || die "could not install: $missing"
fi
