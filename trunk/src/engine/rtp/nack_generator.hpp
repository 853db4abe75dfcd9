// Asks for packets that one RTP stream lost: holes in the numbers are requested after a short wait (they may only be out of
// order) and again until they come, turn useless or have been asked for often enough. Audio and video alike.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/time.hpp"

namespace live::engine::rtp {

class NackGenerator {
public:
    // Above it the stream has jumped, or the network is gone: asking would make it worse.
    static constexpr std::size_t kMissingMax = 512;

    struct Options {
        std::chrono::milliseconds reorder_wait = 10ms;
        std::chrono::milliseconds retry_min = 40ms;  // between requests of one packet, unless the round trip is longer
        std::chrono::milliseconds give_up = 1s;
        unsigned requests_max = 8;  // of one packet
    };

    NackGenerator() = default;
    explicit NackGenerator(Options options) : options_(options) {}

    // A packet came, the first time or as a repair; its number widened.
    void received(TimePoint now, std::uint64_t sequence);
    // The numbers to ask for now, in their order.
    std::vector<std::uint16_t> due(TimePoint now);
    // When due() may have something next.
    std::optional<TimePoint> next_timeout() const;
    // What to take the round trip for. It goes on being measured, by packets that came after they were asked for once.
    void set_round_trip(std::chrono::microseconds round_trip) { round_trip_ = round_trip; }
    std::chrono::microseconds round_trip() const { return round_trip_; }

    std::size_t missing() const { return missing_.size(); }
    std::uint64_t given_up() const { return given_up_; }
    std::uint64_t requested() const { return requested_; }  // packets, each request of one counted
    // True once after packets were given up: a video stream then needs a key frame.
    bool take_loss();

private:
    struct Missing {
        TimePoint noticed;
        TimePoint due;
        TimePoint asked{};
        unsigned requests = 0;
    };
    void came(TimePoint now, std::uint64_t sequence);
    void add_missing(TimePoint now, std::uint64_t from, std::uint64_t to);

    Options options_;
    std::map<std::uint64_t, Missing> missing_;
    std::optional<std::uint64_t> highest_;
    std::chrono::microseconds round_trip_{0};
    std::uint64_t given_up_ = 0;
    std::uint64_t requested_ = 0;
    bool has_loss_ = false;
};

}  // namespace live::engine::rtp
