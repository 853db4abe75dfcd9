#!/bin/sh
# Under valgrind's memcheck: the unit tests of the rooms that parse (`units`) or of all rooms (`all-units`), and the server with its incremental
# leak check and faults on purpose (`server`, test/tools/valgrind_test.sh). The server and the rooms are those of the ordinary build. Ends
# with `N passed, N failed`.
#   valgrind.sh [OBJS [units|all-units|server]]     without a word all-units and server
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs} what=${2:-both}
# Memcheck finds uses of uninitialised memory, which AddressSanitizer does not see. Peers' bytes are parsed in wire and engine; the code of
# the other rooms runs in `server`.
case $what in
    units) programs='test_engine test_wire' ;;
    server) programs='' ;;
    *) programs=srs_utest ;;
esac
case $what in *units) targets=$programs ;; *) targets="srs_tools planted_faults $programs" ;; esac
port=${VALGRIND_PORT:-24935}
passed=0 failed=0
command -v valgrind >/dev/null 2>&1 || die "valgrind is missing: $trunk/scripts/install-packages.sh test"

configure_ordinary "$objs" || die "0 passed, 1 failed"
# shellcheck disable=SC2086 # several words
build_tree "$tree" $targets || die "0 passed, 1 failed"
memcheck="valgrind --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=99"
suppressions=$trunk/test/valgrind.supp
if [ -f "$suppressions" ]; then memcheck="$memcheck --suppressions=$suppressions"; fi

verdict() { # NAME STATUS LOG
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "valgrind: $1 failed with status $2"
        # An old valgrind complains of openat2, in five lines a time.
        grep -vE 'unhandled amd64-linux syscall|may be able to write your own|README_MISSING_SYSCALL|Nevertheless we consider|it at http' "$3" | tail -n 60
    fi
}

# Not under valgrind: tests that start programs (it lets posix_spawn report no failure, knows no pidfd_open, and takes minutes for
# a table of children), that fill the descriptor table (it keeps some for itself), that look at where time goes (most of it is its
# own), that depend on who is scheduled when, that exhaust a bound by brute force, or that simulate hours, crowds and networks. All of them run under AddressSanitizer.
apart="*Stress*:*Slow*:*DeathTest*:ChildProcessTest.*:IngestServiceTest.*:ExecServiceTest.*:EngineServiceTest.*:LadderServiceTest.*:Daemon.*:TcpListenerTest.AFullDescriptorTable*"
apart="$apart:CpuProfileTest.*:*ADay*:*TenMinutes*:*SimulatedCrowd*:SegmenterProperty.*:BandwidthEstimator.*:*TwentyPercent*"
apart="$apart:SessionPair.DeliversInOrderOnABadNetwork:SessionPair.TheEstimate*:EveryWay.*:Delivery.*"
apart="$apart:RelayProof.BoundsTheTableOfNonces:AudioSampleClock.CountsSamplesAndIgnoresRounding"
apart="$apart:Retention.ReadersWithinBounds*:Retention.CountsReleasedPackets*:ClusterSimulation.*:PullerTree.DepthTwo*:PullerSimulation.*"
apart="$apart:*FollowerTest.*:*LossyLink*:SimulatedSrt.*:LineWriterTest.AnUnreadConsole*:SourceFeedTest.AllocatesMemoryForALargeFrame*"
apart="$apart:TsWireEncoder.ReadersOfLaggingLog*:TsReader.HoldsNoMoreThanItsLimit:Flush.AClientThatReadsAsFast*"
apart="$apart:ServerLimitsTest.RefusesAPeerThatNeverReads*:ServerLimitsTest.RefusesCallsWhoseAnswers*:HookServiceTest.TheQueueIsBounded:HookServiceTest.SurvivesDeeplyNested*:MemoryBudgetTest.KeepsTheProcess*"
apart="$apart:TransportLog.AGopWithoutEnd*:FlvWholePart.EndsAtTheLast*:StaticHandlerTest.AFileLarger*:HttpConnectionTest.LastResponseAnnounces*"
apart="$apart:CallbackAnswer.RefusesDeepNesting*:SegmenterTest.LimitsTheBytes*:AccessLogTest.WarnsOnceAboutAFullDisk*:PerAddressLimits.ManyShortLived*:PerAddressLimits.AnswersAs*:DeferredEncoderTest.Configurations*:Utf8.AgreesWith*:NormalPath.Equals*"
apart="$apart:DtlsTransport.NegotiatesTheGroup*:DtlsTransport.AServerMayHaveAnRsaKey:SessionOpenerTest.AnRsa*:DtlsTransport.LossCosts*"
apart="$apart:MembersTest.ProgramThatDoesNotExist*:MasterTest.*:RollTest.*:UpgradeParentTest.*:*UpgradeTest.*"
apart="$apart:LayerSelector.EachLink*:LayerSelector.FollowsALink*:LayerSelector.PaddingIsBounded*:MetricsReport.HasBounds:PasswordHash.VerifiesTheHashOfTheReference"
apart="$apart:HandshakeStepTest.*:SrtCalls.ARefusalOfTheConnection*:SrtSessions.APassphraseIsChecked"
# Several parts of each program: the last one alone takes little time then. Each costs a start of valgrind, which reads debug information.
parts=4
# PROGRAM:PART
part() {
    program=${1%:*} at=${1#*:}
    where=$tree
    [ "$program" != srs_utest ] || where=$objs
    GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$at timeout 1800 $memcheck --quiet "$where/$program" --gtest_brief=1 --gtest_filter="-$apart" >"$tree/$program-$at.log" 2>&1
    echo "$?" >"$tree/$program-$at.status"
}
units() {
    words=
    for program in $programs; do
        rm -f "$tree/$program"-*.status
        for at in $(seq 0 $((parts - 1))); do words="$words $program:$at"; done
    done
    each_of "$words" part
    for word in $words; do
        at=$tree/${word%:*}-${word#*:}
        verdict "part ${word#*:} of ${word%:*}" "$(cat "$at.status" 2>/dev/null || echo 1)" "$at.log"
    done
}

# Faults on purpose in a small program, and the server itself: published to, played from, checked for leaks while it runs.
server() {
    FAULTS_TREE=$tree "$trunk/test/tools/coroutine_tools_test.sh" "$objs" valgrind >"$tree/faults.log" 2>&1
    add_counts "$tree/faults.log" $?
    TOOLS_SERVER=$tree/srs_tools TOOLS_OBJS=$objs/tools-quick TOOLS_PORT=$port "$trunk/test/tools/valgrind_test.sh" "$objs" >"$tree/server.log" 2>&1
    add_counts "$tree/server.log" $?
}

case $what in
    units | all-units) units ;;
    server) server ;;
    *) units && server ;;
esac
say "$passed passed, $failed failed"
[ $failed = 0 ]
