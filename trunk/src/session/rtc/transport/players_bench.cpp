// One packet to every WebRTC player of a stream, from the RTP log to the kernel: whole sessions, whose state together does not
// fit into the processor's second cache. Clients of our own engine connect once and are not read from afterwards. The argument is
// the number of players.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include <sys/resource.h>

#include "session/rtc/session_fixture.hpp"

namespace live::session::rtc {
namespace {

struct Stage : SessionFixture {
    explicit Stage(std::size_t count) {
        places.set_limits(4 * count + 100, {.rtc_offers_per_ip = 0});
        vhosts.options.stun_timeout = 10min;
        source = streams.find_or_create("/live/cam", {}, 60'000).value();
        rtp_log = &source->rtp_logs().hold({});
        while (all.size() < count)
            all.push_back(come(wire::sdp::Purpose::play));
    }
    ~Stage() override { source->rtp_logs().release({}); }
    void TestBody() override {}

    // Audio never waits for a link, so that every player takes it in one turn; it has the size of a full video packet here.
    bool send_one() {
        constexpr std::size_t kBytes = 1'100;
        constexpr int kTurnsMax = 10'000;
        const std::uint64_t wanted = taken() + all.size();
        rtp_log->append({.kind = MediaKind::audio, .payload = Slice::allocate(kBytes), .arrived = io::now()});
        rtp_log->flush();
        for (int turns = 0; turns < kTurnsMax && taken() < wanted; ++turns)
            if (!io::yield(io::Deadline::never()).ok())
                return false;
        return taken() >= wanted;
    }
    std::uint64_t taken() const { return port->figures().sent + port->figures().unsent; }

    Ref<media::Source> source;
    media::RtpLog* rtp_log = nullptr;
    std::vector<std::unique_ptr<TestClient>> all;
};

void raise_descriptor_limit() {
    ::rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void serve(benchmark::State& state) {
    raise_descriptor_limit();
    const auto count = static_cast<std::size_t>(state.range(0));
    Stage stage(count);
    for (auto _ : state)
        if (!stage.send_one()) {
            state.SkipWithError("a player was not served");
            break;
        }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(serve)->Arg(1'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace live::session::rtc

BENCHMARK_MAIN();
