#!/bin/sh
# Everything that can be checked without running the server: format, arrows, sizes and banned calls (tools/tidy, with its own
# tests), generated files, clang-tidy when it is installed. Ends with `N passed, N failed`, a check being one.
#   lint.sh [OBJS] [--all]       --all: clang-tidy and separate compilation over the whole tree instead of changed files
#   lint.sh [OBJS] --rewrite     rewrites the sources in the one format and checks nothing
set -u
. "$(dirname -- "$0")/common.sh"
objs=$trunk/objs all=no rewrite=no
for argument in "$@"; do
    case $argument in
        --all) all=yes ;;
        --rewrite) rewrite=yes ;;
        *) objs=$argument ;;
    esac
done
passed=0 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

check() { # NAME command...
    name=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "lint: $name failed"
        tail -n 60 "$work/out"
    fi
}

# The pinned formatter: in a virtual environment of its own, kept by the pins.
find_formatter() {
    pins=$(cksum <"$trunk/tools/requirements.txt" | cut -d' ' -f1)
    venv=$cache_dir/tools-$pins
    if [ ! -x "$venv/bin/clang-format" ]; then
        rm -rf "$venv"
        mkdir -p "$cache_dir"
        maker=$(python_with ensurepip) || return 1
        "$maker" -m venv "$venv" && "$venv/bin/pip" -q --disable-pip-version-check install -r "$trunk/tools/requirements.txt" || return 1
    fi
    formatter=$venv/bin/clang-format
}

sources() { find "$trunk/src" "$trunk/3rdparty" -name '*.[ch]pp' | sort; }

# The .cpp and .hpp files below src/ that differ from the branch's last commit or were changed by it.
changed() {
    {
        git -C "$trunk" diff --name-only --relative HEAD -- src
        git -C "$trunk" diff --name-only --relative HEAD~1 HEAD -- src
        git -C "$trunk" ls-files -o --exclude-standard -- src
    } 2>/dev/null | grep -E '\.[ch]pp$' | sort -u | while read -r name; do
        if [ -f "$trunk/$name" ]; then echo "$trunk/$name"; fi
    done
}

check_format() {
    # shellcheck disable=SC2046 # no path of ours has a blank
    "$formatter" --dry-run --Werror --ferror-limit=1 $(sources)
}

# conf/full.conf and doc/config.md match the option rows.
check_generated() {
    cmake --build "$objs/build" -j "$JOBS" --target write_docs && "$objs/build/write_docs" --check "$trunk"
}

# Builds compile neighbours as one source and common headers in advance. This tree is only configured: it records how each source is
# compiled by itself.
alone=$objs/lint
configure_alone() { configure_tree "$alone" -DLIVE_UNITE=OFF -DLIVE_TESTS=ON; }

check_clang_tidy() {
    # shellcheck disable=SC2086,SC2046
    printf '%s\n' $files | grep '\.cpp$' | grep -vE '_(fuzz|bench)\.cpp$' |
        xargs -r -n 1 -P "$JOBS" clang-tidy --quiet --extra-arg=-Wno-unused-command-line-argument -p "$alone" --warnings-as-errors='*'
}

# Sources that relied on an include that a header no longer has.
left_alone() {
    headers=$({
        git -C "$trunk" diff -U0 --relative HEAD -- 'src/*.hpp'
        git -C "$trunk" diff -U0 --relative HEAD~1 HEAD -- 'src/*.hpp'
    } 2>/dev/null | awk '/^--- / { name = substr($2, 3) } /^-#include/ { sub("^src/", "", name); print name }' | sort -u)
    for header in $headers; do grep -rlF --include='*.[ch]pp' "#include \"$header\"" "$trunk/src" || true; done
}

# Each header and each source compiles by itself.
check_alone() {
    # shellcheck disable=SC2046 # no path of ours has a blank
    python3 -B tools/tidy/alone.py "$alone/compile_commands.json" "$JOBS" $({ printf '%s\n' "$files"; [ $all = yes ] || left_alone; } | grep '/src/' | sort -u)
}

if ! find_formatter; then
    if [ $rewrite = yes ]; then die "clang-format could not be installed (Python with venv, and the package index, are needed)"; fi
    failed=$((failed + 1))
    say "lint: the pinned clang-format could not be installed"
elif [ $rewrite = yes ]; then
    # shellcheck disable=SC2046
    "$formatter" -i $(sources)
    exit 0
else
    check "format (make format)" check_format
fi

files=$(if [ $all = yes ]; then sources; else changed; fi)
cd "$trunk/tools/tidy" || exit 1
check "tests of tools/tidy" python3 -B -m unittest
cd "$trunk/tools" || exit 1
check "tests of tools/cover.py" python3 -B -m unittest
cd "$trunk" || exit 1
if python3 -B tools/tidy/tidy.py >"$work/tidy" 2>&1; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
cat "$work/tidy"
check "form of the commits" python3 -B tools/tidy/commits.py
if [ -f "$objs/build/CMakeCache.txt" ]; then
    if grep -q write_docs "$objs/build/build.ninja" 2>/dev/null; then check "generated files (make generate)" check_generated; fi
    if [ -n "$files" ]; then
        check "a tree of its own" configure_alone
        check "each file alone" check_alone
        if command -v clang-tidy >/dev/null 2>&1; then check "clang-tidy" check_clang_tidy; fi
    fi
else
    say "lint: no build in $objs: generated files and clang-tidy are not checked"
fi
say "$passed passed, $failed failed"
[ $failed = 0 ]
