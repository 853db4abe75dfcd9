// One simulated client of a load, for its task: its parameters, its counters, and the state shared by all clients; and the
// interface of a task.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "bench/load/dialer.hpp"
#include "bench/load/load_options.hpp"
#include "bench/load/socket_drain.hpp"
#include "bench/measure/client_meter.hpp"
#include "bench/measure/frame_delays.hpp"
#include "bench/measure/load_totals.hpp"
#include "io/fibers/deadline.hpp"

namespace live::bench {

// Shared by all clients; owned by the LoadRun.
struct LoadContext {
    Tool tool{};
    LoadOptions options;
    LoadTotals totals;
    Dialer dialer;
    SocketDrain drain;                  // of the clients that do not parse
    std::optional<FrameDelays> frames;  // of a driven load
    // Read buffer of all fibers: used only between two suspensions.
    std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(256 << 10);
    std::minstd_rand random;

    // Uniform from 0.7 to 1.1 of the value.
    std::chrono::nanoseconds random_sleep(Seconds value);
};

struct LoadClient {
    LoadContext& context;
    ClientMeter& meter;
    std::uint64_t index = 0;
    std::string url;
    Log log;
    bool is_open = false;

    // Whether it parses the stream.
    bool looks() const { return index < context.options.witnesses; }
    // The server has responded: it plays or publishes.
    void on_open() {
        context.totals.open += is_open ? 0 : 1;
        is_open = true;
    }
    MutBytes scratch() { return context.scratch; }
    void count_in(std::size_t bytes) {
        context.totals.bytes_in += bytes;
        meter.on_bytes(bytes);
        context.totals.leader_bytes = std::max(context.totals.leader_bytes, meter.bytes());
    }
    // A message or tag of the stream, with all its payload.
    void on_payload(wire::flv::TagType type, std::uint32_t timestamp_ms, std::size_t bytes) {
        if (index == 0)
            context.totals.media.add(type, timestamp_ms, bytes);
    }
    // For a publisher, whose counted bytes are those it sends.
    void count_out(std::size_t bytes) {
        context.totals.bytes_out += bytes;
        if (publishes(context.tool, context.options))
            meter.on_bytes(bytes);
    }
    void on_media(TimePoint now, std::uint32_t timestamp_ms);
    // `ago`: the time since the arrival, if known.
    void on_stamp(std::chrono::microseconds sent, Duration ago = {});
};

// A client's repeated task; it lives as long as its client.
class LoadTask {
public:
    // Receiving nothing for this long is a failure.
    static constexpr std::chrono::seconds kIdleLimit{30};
    static constexpr std::chrono::seconds kStartLimit{30};

    virtual ~LoadTask() = default;
    // One run. Errc::cancelled when the load is stopped, which is not a failure.
    virtual Result<void> run(LoadClient& client, io::Deadline deadline) = 0;
    // Whether several runs are one viewing: the client's measurements continue over them.
    virtual bool is_continued() const { return false; }
    // How long to wait after a successful run.
    virtual std::chrono::nanoseconds pause(LoadContext& context) const { return context.random_sleep(context.options.delay); }
};

}  // namespace live::bench
