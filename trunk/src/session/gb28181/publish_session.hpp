// PublishSession: a GB28181 device as a publisher: a client with admission, callbacks and counters. Nothing is sent to it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/ingest/ingest.hpp"
#include "media/ingest/law_converter.hpp"
#include "media/source/publication.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/gb28181/context.hpp"
#include "session/gb28181/device.hpp"
#include "session/limits/memory_budget.hpp"

namespace live::session::gb28181 {

class PublishSession final : private Client, private MemoryBudget::Holder, private media::AudioListener {
public:
    // The tick of a device whose stream has no low-latency readers, as of RTMP publishers.
    static constexpr std::chrono::milliseconds kTick{100};

    // Everything referred to outlives this.
    PublishSession(const Context& context, Device& device, MediaInput& input, ClientRequest request, const Log& log);
    ~PublishSession();

    // Until the device disconnects or is silent, or something ends the stream.
    Result<void> run(io::Deadline deadline);

private:
    Result<void> publish(io::Deadline deadline);
    Result<void> receive(std::unique_ptr<media::Publication> publication, io::Deadline deadline);
    Result<void> receive_all(io::Deadline deadline);
    Result<void> receive_some(io::Deadline deadline);
    // Frames that are complete, to the source.
    void take_units();
    void push(MediaKind kind, wire::codec::Frame frame);
    void note_tracks();
    // Client
    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override;
    std::optional<LinkFigures> link_figures() const override;
    void kick(std::string reason) override { device_.end(std::move(reason)); }
    // MemoryBudget::Holder
    std::string_view address() const override { return request_.ip; }
    void lose_memory(std::string why) override { kick(std::move(why)); }
    // AudioListener
    void on_audio() override;

    const Context& context_;
    Device& device_;
    MediaInput& input_;
    const ClientRequest request_;
    const Log& log_;
    StreamPlan plan_;
    media::Publication* publication_ = nullptr;     // while it is published
    std::optional<media::Ingest> ingest_;           // likewise
    std::optional<media::LawConverter> converter_;  // likewise
    std::uint32_t noted_version_ = 0;               // of the tracks
    MemoryBudget::Use memory_;
    ClientEntry entry_;
};

}  // namespace live::session::gb28181
