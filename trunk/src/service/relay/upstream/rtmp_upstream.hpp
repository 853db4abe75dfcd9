// RtmpUpstream: pulls a stream with our RTMP client.
#pragma once

#include <utility>

#include "engine/rtmp/client.hpp"
#include "service/relay/upstream/upstream.hpp"

namespace live::service::relay {

class RtmpUpstream final : public Upstream {
public:
    // The event after which it is started: the permission to play, or to connect.
    enum class Until : std::uint8_t { playing, connected };

    RtmpUpstream(engine::rtmp::ClientOptions options, std::uint64_t handshake_seed, Until until = Until::playing)
        : client_(obeying(std::move(options)), handshake_seed), until_(until) {}

    Result<void> start(TimePoint now) override { return client_.start(now); }
    Result<void> handle_bytes(TimePoint now, Bytes input) override { return client_.handle_bytes(now, input); }
    Result<void> handle_end() override { return Error(Errc::closed, "the origin closed the connection"); }
    std::optional<UpstreamEvent> poll_event() override;
    void take_output(std::vector<std::uint8_t>& into) override { client_.take_output(into); }
    bool has_answered() const override { return is_connected_; }
    bool is_started() const override { return until_ == Until::connected ? is_connected_ : client_.is_started(); }
    bool keeps_timeline() const override { return true; }
    std::uint64_t bytes_received() const override { return client_.bytes_received(); }

private:
    static engine::rtmp::ClientOptions obeying(engine::rtmp::ClientOptions options) {
        options.can_reconnect = true;
        return options;
    }

    engine::rtmp::Client client_;
    const Until until_;
    bool is_connected_ = false;
};

}  // namespace live::service::relay
