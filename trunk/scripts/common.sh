# Shared by the scripts of this folder; sourced, never run. Sets `trunk` (absolute) and `python`, defines say, warn and die.
# shellcheck shell=sh
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
trunk=${here%/trunk/*}/trunk
cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
JOBS=${JOBS:-$cores}
cache_dir=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/live-server

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }
die() {
    warn "$*"
    exit 1
}

# Prints the first Python that has the modules $1, with commas between them; false when none has.
python_with() {
    for candidate in "${PYTHON:-python3}" python3 /usr/bin/python3; do
        if "$candidate" -c "import $1" >/dev/null 2>&1; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

# ccache as CMake arguments, when there is one. Flavours that compile a file alike share it, and so do clones: where they are is not
# part of the key.
launcher() {
    if command -v ccache >/dev/null 2>&1; then
        echo "-DCMAKE_C_COMPILER_LAUNCHER=env;CCACHE_BASEDIR=$trunk;CCACHE_NOHASHDIR=1;ccache"
        echo "-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_BASEDIR=$trunk;CCACHE_NOHASHDIR=1;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
    fi
}

# configure_tree FOLDER [CMake arguments]: a build folder of its own for one flavour; warnings are errors in it. Shows CMake's words only when it
# fails. Several scripts may build in the same folder: they take turns (FOLDER.lock).
configure_tree() {
    tree=$1
    shift
    mkdir -p "$tree"
    # shellcheck disable=SC2046 # the launcher is several arguments or none
    if ! flock "$tree.lock" cmake -S "$trunk" -B "$tree" -G Ninja -DLIVE_WERROR=ON $(launcher) "$@" >"$tree/configure.log" 2>&1; then
        tail -n 20 "$tree/configure.log" >&2
        return 1
    fi
}

# build_tree FOLDER TARGET...: quiet unless it fails.
build_tree() {
    tree=$1
    shift
    if ! flock "$tree.lock" ninja -C "$tree" -j "$JOBS" -k 0 "$@" >"$tree/build.log" 2>&1; then
        grep -E -A 12 'FAILED|error:|ninja: ' "$tree/build.log" | head -n 60 >&2
        return 1
    fi
}

# add_counts LOG STATUS: the output of a test script, but for its last line, whose `N passed, N failed` is added to passed and failed. A
# bad status is a failure, and so is a log without that line.
add_counts() {
    log_passed=$(sed -n 's/^\([0-9][0-9]*\) passed, [0-9]* failed$/\1/p' "$1" | tail -n 1)
    log_failed=$(sed -n 's/^[0-9]* passed, \([0-9][0-9]*\) failed$/\1/p' "$1" | tail -n 1)
    log_failed=${log_failed:-1}
    if [ "$2" != 0 ] && [ "$log_failed" = 0 ]; then log_failed=1; fi
    passed=$((passed + ${log_passed:-0})) failed=$((failed + log_failed))
    grep -vE '^[0-9]+ passed, [0-9]+ failed$' "$1"
}

# each_of "WORD..." command...: runs `command WORD` for each word, as many at a time as there are cores.
each_of() {
    words=$1
    shift
    taken=$(mktemp -d) || return 1
    for _ in $(seq "$JOBS"); do
        for word in $words; do
            if mkdir "$taken/$word" 2>/dev/null; then "$@" "$word"; fi
        done &
    done
    wait
    rm -rf "$taken"
}

# configure_checked OBJS: the flavour with everything that finds faults: clang with AddressSanitizer, UndefinedBehaviorSanitizer and what
# libFuzzer needs. Unit tests, fuzz targets and the server are built in it, each source once. Sets tree.
configure_checked() {
    tree=$1/checked
    clang=$(find_clang) || { warn "clang with its fuzzer runtime is missing: $trunk/scripts/install-packages.sh test"; return 1; }
    configure_tree "$tree" -DLIVE_TESTS=ON -DLIVE_FUZZ=ON -DLIVE_QUICK_BUILD=ON -DLIVE_SIMULATOR=ON \
        "-DCMAKE_C_COMPILER=$clang" "-DCMAKE_CXX_COMPILER=$(echo "$clang" | sed 's/^clang/clang++/')"
}

# configure_ordinary OBJS: the default configuration in OBJS, with the unit tests and srs_tools. Sets tree.
configure_ordinary() {
    tree=$1/build
    if ! grep -qE '^LIVE_CONFIGURE_USER:STRING=(none|--werror=on)?( *--jobs=[0-9]+)?$' "$tree/CMakeCache.txt" 2>/dev/null; then
        warn "$tree is not what ./configure without options makes"
        return 1
    fi
    configure_tree "$tree" -DLIVE_TESTS=ON
}

# The fuzz targets that are built in $tree, each by its program's name.
fuzz_targets() { (cd "$tree" && find . -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x | sed 's|^\./||' | sort); }

# Highest installed clang that has the libFuzzer runtime: prints its C compiler; false when there is none.
find_clang() {
    for version in '' -21 -20 -19 -18 -17 -16 -15 -14; do
        command -v "clang$version" >/dev/null 2>&1 && command -v "clang++$version" >/dev/null 2>&1 || continue
        runtime=$("clang$version" -print-file-name=libclang_rt.fuzzer-x86_64.a 2>/dev/null)
        other=$("clang$version" -print-runtime-dir 2>/dev/null)
        if [ -f "$runtime" ] || ls "$other"/libclang_rt.fuzzer* >/dev/null 2>&1; then
            echo "clang$version"
            return 0
        fi
    done
    return 1
}
