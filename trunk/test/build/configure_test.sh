#!/bin/sh
# Claims about ./configure, the Makefile it writes and the init script, each in a folder of its own; nothing is written to the tree.
# Ends with `N passed, N failed`; --quick skips the builds.
set -u
trunk=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
quick=no
[ "${1:-}" = --quick ] && quick=yes

ok() { passed=$((passed + 1)); }
not_ok() {
    failed=$((failed + 1))
    echo "not ok: $*"
    sed 's/^/    /' "$work/out" | tail -n 8
}
# configure [options]: runs it in a new empty folder; sets status, here; output in $work/out.
configure() {
    here=$(mktemp -d "$work/run.XXXXXX")
    (cd "$here" && SRS_WORKDIR=$trunk "$trunk/configure" "$@") >"$work/out" 2>&1
    status=$?
}
# claim NAME STATUS [TEXT...]: the last run ended with STATUS and printed every TEXT.
claim() {
    name=$1 expected=$2
    shift 2
    if [ "$status" != "$expected" ]; then
        not_ok "$name: status $status, expected $expected"
        return
    fi
    for text in "$@"; do
        if ! grep -qF -e "$text" "$work/out"; then
            not_ok "$name: no \"$text\" in the output"
            return
        fi
    done
    ok
}
says() { # NAME TEXT
    if grep -qF -e "$2" "$work/out"; then ok; else not_ok "$1: no \"$2\""; fi
}
is() { # NAME FOUND EXPECTED
    if [ "$2" = "$3" ]; then ok; else not_ok "$1: \"$2\", expected \"$3\""; fi
}
cache_has() { # NAME ENTRY
    if grep -qF -e "$2" "$here/objs/build/CMakeCache.txt"; then ok; else not_ok "$1: no \"$2\" in the CMake cache"; fi
}

check_help() {
    configure -h
    claim "help exits 0" 0 "--gperf=on|off" "--prefix=<path>" "--jobs[=N]"
    is "exactly three lines speak of asan" "$(grep -c asan "$work/out")" 3
    is "no deprecated spelling in the help" "$(grep -cE -- '--(with|without|use)-' "$work/out")" 0
    is "every switch has a default" "$(grep -E '^  --[^ ]*=on\|off' "$work/out" | grep -vcE 'Default: (on|off)$')" 0
    configure --help
    claim "--help is -h" 0 "--sanitizer=on|off"
}

check_errors() {
    configure --foo
    claim "an unknown option is an error" 1 'invalid option "--foo"'
    configure --foo=on
    claim "an unknown option with a value is an error" 1 'invalid option "--foo=on"'
    configure stray
    claim "a stray word is an error" 1 'invalid option "stray"'
    configure --prefix
    claim "a value option without a value is an error" 1 "wants a value"
    configure --jobs=none
    claim "jobs wants a number" 1 "wants a number"
    configure --with-nothing
    claim "an unknown --with is an error" 1 'invalid option "--with-nothing"'
    for name in arm mips with-arm-ubuntu12 with-mips-ubuntu12 with-librtmp with-research librtmp research; do
        configure --$name
        claim "--$name was removed" 1 "was removed"
    done
    configure --cc=no-such-compiler
    claim "a missing compiler is named" 1 "no-such-compiler"
    if [ -e "$here/Makefile" ]; then not_ok "a failed configure leaves no Makefile"; else ok; fi
}

check_conflicts() {
    for part in gcp gmp gmc gmd; do
        configure --$part=on
        claim "--$part needs gperf" 1 "needs --gperf"
        configure --gperf=on --$part=on --gprof=on
        claim "--$part excludes gprof" 1 "exclude each other"
    done
    configure --gperf=on --gmc=on --gmp=on
    claim "gmc excludes gmp" 1 "exclude each other"
    configure --gperf=on --sanitizer=on
    claim "gperf switches the sanitizer off" 0 "the sanitizer is switched off" "Configure ok!" "--sanitizer=off"
    cache_has "the sanitizer is off in the build" "LIVE_SANITIZE:BOOL=OFF"
    configure --valgrind=on --sanitizer
    claim "valgrind switches the sanitizer off" 0 "the sanitizer is switched off" "--valgrind=on"
}

check_values() {
    configure --gprof --utest=yes --srt=off --jobs=3 --extra-flags="-O0 -DX=1"
    claim "options are resolved" 0 "--gprof=on" "--utest=on" "--srt=off" "--jobs=3" "--extra-flags=-O0 -DX=1" "Configure ok!"
    cache_has "flags reach the build" "LIVE_EXTRA_FLAGS:STRING=-O0 -DX=1"
    cache_has "gprof reaches the build" "LIVE_GPROF:BOOL=ON"
    configure --rtc=off --https=off
    claim "what is always there stays and says so" 0 "--rtc=off: accepted, it stays on" "--https=off: accepted" "snapshots: off" "WebRTC"
    configure
    claim "the defaults configure" 0 "Options: none" "Configure ok!"
    if grep -rqs -e ' -O2 .*-g .*-fno-omit-frame-pointer' "$here/objs/build"; then ok; else not_ok "the build is optimised"; fi
    cache_has "the sanitizer is off by default" "LIVE_SANITIZE:BOOL=OFF"
    if (cd "$here" && make help) >"$work/out" 2>&1; then ok; else not_ok "the Makefile works"; fi
    for target in server all utest clean destroy install uninstall test lint fuzz bench e2e cover check format generate test-arm64; do
        (cd "$here" && make -n $target) >"$work/out" 2>&1 || not_ok "make $target exists"
    done
    (cd "$here" && make destroy) >"$work/out" 2>&1
    if [ -e "$here/objs" ]; then not_ok "make destroy removes objs"; else ok; fi
    here=$(mktemp -d "$work/run.XXXXXX")
    (cd "$here" && SRS_WORKDIR=$trunk SRS_OUTPUT="$here/else where" "$trunk/configure") >"$work/out" 2>&1
    status=$?
    claim "SRS_OUTPUT moves objs, even to a name with a space" 0 "Configure ok!"
    if [ -d "$here/else where/objs/build" ] && [ ! -e "$here/objs" ]; then ok; else not_ok "objs is below SRS_OUTPUT"; fi
}

check_deprecated() {
    configure --with-gprof --with-valgrind --with-ffmpeg --without-srt --with-http-api --with-hls --with-ssl --x86-x64 --full --hds=on \
        --use-sys-ssl --transcode=on
    claim "old spellings are accepted" 0 "--gprof=on" "--valgrind=on" "--srt=off" "--sys-ssl=on" "Ignore option" "Configure ok!"
    configure --with-gperf --with-gcp
    claim "the oldest guides' profiler options work" 0 "--gperf=on" "--gcp=on" "Configure ok!"
}

check_again() {
    configure
    (cd "$here" && SRS_WORKDIR=$trunk "$trunk/configure") >"$work/out" 2>&1
    is "the same options clean nothing" "$(grep -c 'make clean' "$work/out")" 0
    (cd "$here" && SRS_WORKDIR=$trunk "$trunk/configure" --gprof=on) >"$work/out" 2>&1
    says "other options clean" "make clean"
    (cd "$here" && SRS_WORKDIR=$trunk "$trunk/configure" --gprof=off --clean=off) >"$work/out" 2>&1
    is "--clean=off cleans nothing" "$(grep -c 'The options changed' "$work/out")" 0
}

# Two flavours in one folder, seen at the few C sources that need no compiling of ours: each is built by its own objs/Makefile, leaves
# the other alone, and follows its options.
check_flavours() {
    here=$(mktemp -d "$work/run.XXXXXX")
    other() { # PREFIX [options]
        prefix=$1
        shift
        (cd "$here" && SRS_WORKDIR=$trunk SRS_OUTPUT=$prefix "$trunk/configure" "$@") >"$work/out" 2>&1 || not_ok "configure $prefix $*"
    }
    made() { make -C "$here/$1/objs" st >"$work/out" 2>&1 || not_ok "make -C $1/objs st"; }
    objects() { find "$here/$1/objs/build/3rdparty" -name '*.c.o' -exec ls -l --time-style=full-iso {} + 2>/dev/null; }
    sanitized() { find "$here/$1/objs/build/3rdparty" -name '*.c.o' -exec nm {} + 2>/dev/null | grep -q __asan_report; }
    other plain
    other asan --sanitizer=on
    made plain
    before=$(objects plain)
    if [ -n "$before" ] && ! sanitized plain; then ok; else not_ok "the first flavour is built after the second was configured"; fi
    if [ -z "$(objects asan)" ]; then ok; else not_ok "and the second is not"; fi
    made asan
    if sanitized asan; then ok; else not_ok "the second flavour has its options"; fi
    is "the first is as it was" "$(objects plain)" "$before"
    other plain
    made plain
    is "the same options again compile nothing" "$(objects plain)" "$before"
    other plain --sanitizer=on --clean=off
    made plain
    if sanitized plain; then ok; else not_ok "other options compile anew, also without make clean"; fi
    before=$(objects asan)
    other asan --sanitizer=on --gprof=on
    says "other options clean" "make clean"
    is "make clean is this flavour's" "$(objects plain | wc -l)" "$(printf '%s\n' "$before" | wc -l)"
    is "and cleans it" "$(objects asan)" ""
}

# A server that only sleeps, started by the name srs: the init script cannot tell. As a daemon's, its first process ends when it serves.
check_init_script() {
    root=$work/root
    mkdir -p "$root/objs" "$root/conf" "$root/etc/init.d"
    cp "$trunk/etc/init.d/srs" "$root/etc/init.d/srs"
    printf 'listen 1935;\npid ./objs/other.pid;\nsrs_log_file ./objs/other.log;\n' >"$root/conf/srs.conf"
    cat >"$root/objs/srs" <<'FAKE'
#!/bin/sh
[ "$1" = -t ] && exit 0
if [ -z "${HEARS_ALL:-}" ]; then
    # Under nohup a shell cannot trap ignored signals.
    HEARS_ALL=1 env --default-signal=HUP "$0" "$@" >/dev/null 2>&1 &
    i=0; until [ -s objs/other.pid ] || [ $i = 100 ]; do sleep 0.1; i=$((i + 1)); done
    exit 0
fi
trap 'exit 0' TERM
trap 'echo hup >>objs/seen' HUP
trap 'echo usr1 >>objs/seen' USR1
printf '%s' $$ >objs/other.pid
while :; do sleep 0.1; done
FAKE
    chmod +x "$root/objs/srs"
    service=$work/link
    ln -sf "$root/etc/init.d/srs" "$service"
    run() { "$service" "$@" >"$work/out" 2>&1; status=$?; }
    run status
    claim "status of a stopped server fails" 3 "not running"
    run start
    claim "start, called through a link" 0 "started"
    run start
    claim "a second start is refused" 1 "already running"
    run status
    claim "status of a running server" 0 "$(cat "$root/objs/other.pid")"
    # Up to ten seconds, because a busy machine is slow to run a trap.
    seen() { i=0; until grep -q "$1" "$root/objs/seen" 2>/dev/null || [ $i = 100 ]; do sleep 0.1; i=$((i + 1)); done; }
    run reload
    claim "reload" 0 "reload"
    seen hup
    run rotate
    claim "rotate" 0 "log reopened"
    seen usr1
    is "the signals arrived" "$(sort "$root/objs/seen" 2>/dev/null | tr '\n' ' ')" "hup usr1 "
    run stop
    claim "stop" 0 "stopped"
    if [ -e "$root/objs/other.pid" ]; then not_ok "stop removes the pid file"; else ok; fi
    run nonsense
    claim "an unknown verb is an error" 1 "use:"
}

# Third-party sources from a folder: unknown versions are accepted and named; changed or missing ones are refused.
check_fetch() {
    folder=$(mktemp -d "$work/files.XXXXXX")
    mkdir "$folder/libsrtp2-9.9.9" && echo new >"$folder/libsrtp2-9.9.9/file"
    tar -czf "$folder/libsrtp2_9.9.9.orig.tar.gz" -C "$folder" libsrtp2-9.9.9
    hash=$(sha256sum "$folder/libsrtp2_9.9.9.orig.tar.gz" | cut -d' ' -f1)
    size=$(wc -c <"$folder/libsrtp2_9.9.9.orig.tar.gz")
    printf 'Source: libsrtp2\nVersion: 9.9.9-1\nChecksums-Sha256:\n %s %s libsrtp2_9.9.9.orig.tar.gz\nFiles:\n' "$hash" "$size" \
        >"$folder/libsrtp2_9.9.9-1.dsc"
    fetch() { XDG_CACHE_HOME=$work/cache LIVE_3RDPARTY_FILES=$folder "$trunk/3rdparty/fetch.sh" srtp >"$work/out" 2>&1; status=$?; }
    fetch
    claim "a version that nobody knows is taken, and named" 0 "libsrtp2 9.9.9-1, which is not a version that we know (sha256 $hash)" "tested before"
    is "it is unpacked" "$(cat "$(tail -n 1 "$work/out")/file")" new
    rm "$folder/libsrtp2_9.9.9.orig.tar.gz"
    fetch
    claim "a file that is missing is named" 1 "libsrtp2_9.9.9.orig.tar.gz is missing"
    rm "$folder"/*.dsc
    echo changed >"$folder/libsrtp2_2.5.0.orig.tar.gz"
    fetch
    claim "a file of a known version that was changed is refused" 1 "has neither the upstream tarball of a version"
}

# Compiles every test of the tree: minutes without a warm cache.
check_build() {
    configure --jobs=2
    (cd "$here" && make -j4 utest) >"$work/out" 2>&1
    status=$?
    claim "make -j4 utest" 0 "Built"
    if [ -x "$here/objs/srs_utest" ]; then ok; else not_ok "objs/srs_utest exists"; fi
    (cd "$here" && make clean) >"$work/out" 2>&1
    if [ -e "$here/objs/srs_utest" ]; then not_ok "make clean removes programs"; else ok; fi
}

check_install() {
    configure --prefix=/opt/live --config=conf/console.conf
    # Stands in for the server: install copies, it does not care what.
    cp /bin/true "$here/objs/srs"
    "$trunk/scripts/install.sh" "$here/objs" "$here/root/opt/live" /opt/live conf/console.conf >"$work/out" 2>&1
    status=$?
    claim "install" 0 "/opt/live/etc/init.d/srs"
    for file in objs/srs etc/init.d/srs usr/lib/systemd/system/srs.service; do
        if [ -f "$here/root/opt/live/$file" ]; then ok; else not_ok "$file is installed"; fi
    done
    is "the service's root" "$(sed -n 's/^ROOT=//p' "$here/root/opt/live/etc/init.d/srs")" '"/opt/live"'
    is "the service's conf" "$(sed -n 's/^CONFIG=//p' "$here/root/opt/live/etc/init.d/srs")" '"conf/console.conf"'
    "$trunk/scripts/install.sh" --remove "$here/root/opt/live" >"$work/out" 2>&1
    is "uninstall leaves nothing" "$(find "$here/root" -type f | wc -l)" 0
}

check_help
check_errors
check_conflicts
check_values
check_deprecated
check_again
check_flavours
check_init_script
check_install
check_fetch
[ $quick = yes ] || check_build
echo "$passed passed, $failed failed"
[ $failed = 0 ]
