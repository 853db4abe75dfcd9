// TsUpstream: the transport stream of an SRT origin. It begins with the connection and has its own timeline.
#pragma once

#include "service/relay/upstream/upstream.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::service::relay {

class TsUpstream final : public Upstream {
public:
    Result<void> start(TimePoint) override { return {}; }
    Result<void> handle_bytes(TimePoint now, Bytes input) override;
    Result<void> handle_end() override;
    std::optional<UpstreamEvent> poll_event() override;
    void take_output(std::vector<std::uint8_t>&) override {}
    bool has_answered() const override { return true; }
    bool is_started() const override { return true; }
    bool keeps_timeline() const override { return false; }
    std::uint64_t bytes_received() const override { return bytes_received_; }

private:
    wire::ts::TsReader reader_;
    std::optional<std::uint32_t> announced_version_;  // of the program map
    MediaKindSet announced_;
    std::uint64_t bytes_received_ = 0;
    bool has_ended_ = false;
};

}  // namespace live::service::relay
