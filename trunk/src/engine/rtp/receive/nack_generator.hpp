// Requests packets lost by one RTP stream: gaps in the sequence numbers are requested after a short wait (the packets may only be
// out of order) and again until they arrive, are too old or were requested often enough. Same for audio and video.
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
    // Beyond this the stream has jumped, or the network is down: requests would make it worse.
    static constexpr std::size_t kMissingMax = 512;

    struct Options {
        std::chrono::milliseconds reorder_wait = 10ms;
        std::chrono::milliseconds retry_min = 40ms;  // between requests of a packet, unless the round trip is longer
        std::chrono::milliseconds give_up = 1s;
        unsigned requests_max = 8;  // per packet
    };

    NackGenerator() = default;
    explicit NackGenerator(Options options) : options_(options) {}

    // A packet arrived, originally or as a repair, with its widened sequence number.
    void received(TimePoint now, std::uint64_t sequence);
    // The numbers to request now, in order.
    std::vector<std::uint16_t> due(TimePoint now);
    // When due() may return something next.
    std::optional<TimePoint> next_timeout() const;
    // The assumed round trip. Measured further with packets that arrived after a single request.
    void set_round_trip(std::chrono::microseconds round_trip) { round_trip_ = round_trip; }
    std::chrono::microseconds round_trip() const { return round_trip_; }

    std::size_t missing() const { return missing_.size(); }
    std::uint64_t given_up() const { return given_up_; }
    std::uint64_t requested() const { return requested_; }  // packets, counting every request

private:
    struct Missing {
        TimePoint noticed;
        TimePoint due;
        TimePoint asked{};
        unsigned requests = 0;
    };
    void arrived(TimePoint now, std::uint64_t sequence);
    void add_missing(TimePoint now, std::uint64_t from, std::uint64_t to);

    Options options_;
    std::map<std::uint64_t, Missing> missing_;
    std::optional<std::uint64_t> highest_;
    std::chrono::microseconds round_trip_{0};
    std::uint64_t given_up_ = 0;
    std::uint64_t requested_ = 0;
};

}  // namespace live::engine::rtp
