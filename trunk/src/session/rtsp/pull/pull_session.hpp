// PullSession: a camera or another RTSP server whose stream this server plays and publishes: a client with admission, callbacks
// and counters like any publisher. Media comes in the connection.
#pragma once

#include <memory>
#include <string>

#include "base/log/log.hpp"
#include "engine/rtsp/client.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/tcp_stream.hpp"
#include "media/source/publication.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/rtsp/context.hpp"
#include "session/rtsp/media_input.hpp"
#include "wire/rtsp/pull_url.hpp"

namespace live::session::rtsp {

class PullSession final : private Client, private MemoryBudget::Holder {
public:
    // Time limit for a connection, and for each answer until the media starts.
    static constexpr std::chrono::seconds kAnswerLimit{10};
    static constexpr int kRedirectsMax = 5;

    // Everything referred to outlives this.
    PullSession(Context& context, MemoryBudget& memory, ClientRequest request, const Log& log);

    // Pulls until the other side or the stream ends; returns the reason.
    Result<void> run(wire::rtsp::PullUrl url, io::Deadline deadline);

private:
    Result<void> connect(const wire::rtsp::PullUrl& url, io::Deadline deadline);
    // The next event; sends what the engine has for the other side.
    Result<engine::rtsp::ClientEvent> next_event(io::Deadline deadline);
    Result<wire::rtsp::Description> find_description(wire::rtsp::PullUrl url, io::Deadline deadline);
    Result<void> publish(const wire::rtsp::Description& description, io::Deadline deadline);
    Result<void> receive(media::Publication& publication, MediaInput& input, io::Deadline deadline);
    Result<void> send(Bytes bytes, io::Deadline deadline);
    Result<bool> read_piece();
    void write_reports(MediaInput& input, ByteWriter& out) const;
    // Client
    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override;
    void kick(std::string reason) override;
    // MemoryBudget::Holder
    std::string_view address() const override { return request_.ip; }
    void lose_memory(std::string why) override { kick(std::move(why)); }

    Context& context_;
    ClientRequest request_;
    const Log& log_;
    StreamPlan plan_;
    std::unique_ptr<io::TcpStream> stream_;
    std::unique_ptr<engine::rtsp::Client> engine_;
    Traffic traffic_;
    std::string kick_reason_;
    MemoryBudget::Use memory_;
    ClientEntry entry_;
};

}  // namespace live::session::rtsp
