// FlvUpstream: pulls a stream as HTTP-FLV: one GET, whose response never ends. Tags become the messages that RTMP would carry, so
// every track and codec passes. Status 404 means that the origin does not have the stream, 5xx that the origin has failed. A
// server of this kind sends sync messages on request; one of them reports the end of a stream, and the response continues.
#pragma once

#include <deque>
#include <string>
#include <utility>

#include "engine/http1/parser.hpp"
#include "service/relay/upstream/upstream.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::service::relay {

class FlvUpstream final : public Upstream {
public:
    static constexpr std::size_t kHeaderBytesMax = 16 << 10;
    // Bytes of a body parsed at once; longer input is parsed in pieces.
    static constexpr std::size_t kPieceBytes = 64 << 10;

    // `request` is the whole text, without a body.
    explicit FlvUpstream(std::string request);

    Result<void> start(TimePoint now) override;
    Result<void> handle_bytes(TimePoint now, Bytes input) override;
    Result<void> handle_end() override;
    std::optional<UpstreamEvent> poll_event() override;
    void take_output(std::vector<std::uint8_t>& into) override;
    bool has_answered() const override { return bytes_received_ > 0; }
    bool is_started() const override { return phase_ == Phase::body; }
    // A server that sends sync messages keeps its timeline; others start each connection at zero.
    bool keeps_timeline() const override { return gets_sync_; }
    std::uint64_t bytes_received() const override { return bytes_received_; }

private:
    enum class Phase : std::uint8_t { head, body, over };

    Result<void> on_head(const engine::http1::Response& head);
    Result<void> on_body(Bytes body);
    void on_tag(wire::flv::Tag tag);
    // The body has ended. It is the end of the stream unless a tag is incomplete.
    Result<void> end();

    std::string request_;
    engine::http1::ResponseParser parser_;
    wire::flv::FlvReader reader_;
    std::deque<UpstreamEvent> events_;  // of one input
    std::uint64_t bytes_received_ = 0;
    Phase phase_ = Phase::head;
    bool gets_sync_ = false;
};

}  // namespace live::service::relay
