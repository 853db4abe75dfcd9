// PublishSession: represents the sender of a port as a publisher: a client with admission, callbacks and counters. Nothing is
// sent to the sender.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "media/ingest/ingest.hpp"
#include "media/source/publication.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/mpegts/demuxed_input.hpp"

namespace live::session::mpegts {

class PublishSession final : private Client, private FrameSink, private MemoryBudget::Holder {
public:
    // Datagrams of a stream without low-latency readers are read on this tick, as RTMP publishers are.
    static constexpr std::chrono::milliseconds kTick{100};

    // Everything referred to outlives this.
    PublishSession(DemuxedInput& feed, ClientRequest request, const Log& log);
    ~PublishSession();

    // Until the sender is silent, or something ends the stream.
    Result<void> run(io::Deadline deadline);

private:
    Result<void> publish(io::Deadline deadline);
    Result<void> receive(std::unique_ptr<media::Publication> publication, io::Deadline deadline);
    Result<void> wait_for_end(media::Publication& publication, io::Deadline deadline);
    // Client
    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override;
    void kick(std::string reason) override;
    // FrameSink
    void take(wire::ts::TsReader::Unit unit) override;
    void pass(Bytes bytes, const wire::ts::TsReader& reader) override;
    void flush() override;
    std::chrono::milliseconds read_interval() const override;
    // MemoryBudget::Holder
    std::string_view address() const override { return request_.ip; }
    void lose_memory(std::string why) override { kick(std::move(why)); }

    DemuxedInput& feed_;
    const ClientRequest request_;
    const Log& log_;
    const std::uint64_t bytes_before_;
    StreamPlan plan_;
    media::Publication* publication_ = nullptr;  // while it is published
    media::Ingest* ingest_ = nullptr;
    std::optional<TransportLogs::Holder> transport_;
    std::optional<std::uint32_t> announced_version_;  // of the program map
    Signal ended_;
    std::string kick_reason_;
    MemoryBudget::Use memory_;
    ClientEntry entry_;
};

}  // namespace live::session::mpegts
