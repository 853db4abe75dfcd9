#!/bin/sh
# Under valgrind's memcheck: the unit tests (`units`), and the server with its incremental leak check and faults on purpose
# (`server`, test/tools/valgrind_test.sh). The server and the rooms are those of the ordinary build. Ends with `N passed, N failed`.
#   valgrind.sh [OBJS [units|server]]     without a word both
set -u
. "$(dirname -- "$0")/common.sh"
objs=${1:-$trunk/objs} what=${2:-both}
port=${VALGRIND_PORT:-24935}
passed=0 failed=0
command -v valgrind >/dev/null 2>&1 || die "valgrind is missing: $trunk/scripts/install-packages.sh test"

configure_ordinary "$objs" || die "0 passed, 1 failed"
build_tree "$tree" srs_tools srs_utest planted_faults || die "0 passed, 1 failed"
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
apart="*Stress*:*Slow*:*DeathTest*:ChildProcessTest.*:IngestServiceTest.*:Daemon.*:TcpListenerTest.AFullDescriptorTable*"
apart="$apart:CpuProfileTest.*:*ADay*:*TenMinutes*:*SimulatedCrowd*:SegmenterProperty.*:BandwidthEstimator.*:*TwentyPercent*"
apart="$apart:SessionPair.DeliversInOrderOnABadNetwork:SessionPair.TheEstimate*:EveryWay.*:Delivery.*"
apart="$apart:RelayProof.RemembersABoundedNumber:SampleLine.CountsSamplesAndIgnoresRounding"
apart="$apart:Retention.NobodyWithinTheBounds*:Retention.WhatIsLetGoOf*:ClusterSimulation.*:PullerTree.DepthTwo*:OriginChoiceSimulation.*"
apart="$apart:*FollowerTest.*:*LossyLink*:SimulatedSrt.*:LineWriterTest.AnUnreadConsole*:SourceFeedTest.TheMemoryForALargeFrame*"
apart="$apart:TsWireEncoder.ReadersOfALogThatIsBehind*:TsReader.HoldsNoMoreThanItsLimit:Flush.AClientThatReadsAsFast*"
apart="$apart:ServerLimitsTest.APeerThatAsks*:ServerLimitsTest.RefusesCallsWhoseAnswers*:HookServiceTest.TheQueueIsBounded:HookServiceTest.ADeepAnswer*:MemoryBudgetTest.KeepsTheProcess*"
apart="$apart:TransportLog.AGopWithoutEnd*:FlvWholePart.EndsAtTheLast*:StaticHandlerTest.AFileLarger*:HttpConnectionTest.TheLastResponse*"
apart="$apart:CallbackAnswer.DeepNesting*:SegmenterTest.ASegmentHasABound*:AccessLogTest.AFullDisk*:AddressBook.ManyShortLived*:AddressBook.AnswersAs*:DeferredEncoderTest.Configurations*:Utf8.AgreesWith*:NormalPath.IsWhat*"
apart="$apart:DtlsTransport.NegotiatesTheGroup*:DtlsTransport.AServerMayHaveAnRsaKey:SessionOpenerTest.AnRsa*:DtlsTransport.LossCosts*"
apart="$apart:MembersTest.ProgramThatDoesNotExist*:MasterTest.*:RollTest.*:UpgradeParentTest.*:*UpgradeTest.*"
apart="$apart:HandshakeStepTest.*:SrtCalls.ARefusalOfTheConnection*:SrtSessions.APassphraseIsChecked"
# One part a core, as valgrind reads debug information for ten seconds in each.
parts=$JOBS
# shellcheck disable=SC2086 # several words
part() {
    GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$1 timeout 1800 $memcheck --quiet "$objs/srs_utest" --gtest_brief=1 --gtest_filter="-$apart" >"$tree/utest-$1.log" 2>&1
    echo "$?" >"$tree/utest-$1.status"
}
units() {
    rm -f "$tree"/utest-*.status
    each_of "$(seq 0 $((parts - 1)))" part
    for at in $(seq 0 $((parts - 1))); do
        verdict "part $at of the unit tests" "$(cat "$tree/utest-$at.status" 2>/dev/null || echo 1)" "$tree/utest-$at.log"
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
    units | server) $what ;;
    *) units && server ;;
esac
say "$passed passed, $failed failed"
[ $failed = 0 ]
