// Backlog: encodes later what append() has left. Frames of at least WireEncoder::kSlowBytes in formats that copy them (TS, RTP)
// are left: there may be several such formats, and each takes milliseconds. They are encoded after Source::flush(), or before it
// by a publisher that can suspend, some kCatchUpBytes or one frame for RTP by each encode_some(). Other fibers may run in
// between: readers of these formats find the log as it was before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "media/source/rtp_logs.hpp"
#include "media/source/wire_logs.hpp"

namespace live::media {

class Source;

// Encodes the backlog of publishers that cannot suspend. session/fan_out implements it, and app plugs it in.
class DeferredEncoder {
public:
    // Calls Backlog::encode_some(), each time in a turn of its own, until nothing is left, then Source::flush(). False: it
    // cannot.
    virtual bool add(Source& source) = 0;

protected:
    ~DeferredEncoder() = default;
};

class Backlog {
public:
    // Above this append() drops frames, or encodes the backlog if the DeferredEncoder cannot; above the double it encodes it in
    // any case. Readers' logs hold back the ring's trimming.
    static constexpr std::size_t kBytesMax = 16U << 20;

    // All arguments must outlive this.
    Backlog(Source& source, const std::string& url, WireLogs& wire_logs, RtpLogs& rtp_logs)
        : source_(source), url_(url), wire_logs_(wire_logs), rtp_logs_(rtp_logs) {}
    Backlog(const Backlog&) = delete;
    Backlog& operator=(const Backlog&) = delete;

    bool empty() const { return bytes_ == 0; }
    void set_encoder(DeferredEncoder* encoder) { encoder_ = encoder; }
    void encode_some();

    // For the source: a log has left the packet to encode_some().
    void add(const Packet& packet) { bytes_ += std::max<std::size_t>(packet.payload.size(), 1); }
    // Whether the frame must be dropped: the publisher sends faster than its frames are encoded.
    bool is_outrun_by(const Packet& packet) { return is_outrun() && !is_kept(packet); }
    bool is_outrun() const { return is_outrun_ || bytes_ > kBytesMax; }
    // Encodes the backlog above kBytesMax.
    void limit() {
        if (bytes_ > 2 * kBytesMax)
            encode_all();
        else if (bytes_ > kBytesMax)
            have_encoded();
    }
    // Has the backlog encoded, by the DeferredEncoder if there is one.
    void have_encoded();
    void start_publisher() { is_outrun_ = false; }

private:
    bool is_kept(const Packet& packet);
    void encode_all();

    std::size_t bytes_ = 0;   // of packets since the first one left by append()
    bool is_outrun_ = false;  // frames are dropped
    Source& source_;
    const std::string& url_;
    WireLogs& wire_logs_;
    RtpLogs& rtp_logs_;
    DeferredEncoder* encoder_ = nullptr;
};

}  // namespace live::media
