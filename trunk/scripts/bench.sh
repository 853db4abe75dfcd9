#!/bin/sh
# The benchmarks: every micro benchmark (NAME_bench.cpp beside the code) as JSON in objs/micro/NAME.json, then the macro ones of
# tools/bench, which have their own help.
#   bench.sh OBJS [arguments of tools/bench/bench.py]
set -u
. "$(dirname -- "$0")/common.sh"
objs=$1
shift
tree=$objs/micro
configure_tree "$tree" -DLIVE_BENCH=ON || exit 1
targets=$(ninja -C "$tree" -t targets all 2>/dev/null | sed -n 's/^\(bench_[a-z0-9_]*\): phony$/\1/p' | sort -u)
status=0
if [ -n "$targets" ]; then
    # shellcheck disable=SC2086 # one word a target
    build_tree "$tree" $targets || exit 1
    for target in $targets; do
        say "== ${target#bench_}"
        "$tree/$target" --benchmark_out="$tree/${target#bench_}.json" --benchmark_out_format=json || status=1
    done
fi
[ -x "$objs/srs" ] || die "there is no $objs/srs: make"
cd "$trunk" || exit 1
"${PYTHON:-python3}" tools/bench/bench.py --server "$objs/srs" "$@" || status=$?
exit $status
