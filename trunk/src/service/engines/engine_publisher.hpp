// EnginePublisher: publishes the FLV that a child returns through a pipe as a stream of this server: a client without a
// connection, which is admitted without callbacks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "io/process/pipe.hpp"
#include "media/ingest/ingest.hpp"
#include "media/source/publication.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::service::engines {

// All outlive the publishers.
struct PublishContext {
    media::StreamTable& streams;
    session::Admission& admission;
    session::StreamEvents& events;
    session::ClientTable& clients;
};

class EnginePublisher final : private session::Client {
public:
    // `request` names the stream. `hidden`: publishes with this plan instead, unseen by admission, events and the list of
    // clients. All outlive this.
    EnginePublisher(PublishContext context, session::ClientRequest request, std::optional<session::StreamPlan> hidden,
                    io::PipeReader& pipe, const Log& log);

    // Until the child closes the pipe or the stream is lost. `on_bytes` is called for each part of the output. Returns why it
    // ended; Errc::closed: the child has closed the pipe.
    Result<void> run(const std::function<void(std::size_t)>& on_bytes, io::Deadline deadline);

private:
    Result<void> publish_hidden(Bytes first, const std::function<void(std::size_t)>& on_bytes, io::Deadline deadline);
    Result<void> publish(Bytes first, const std::function<void(std::size_t)>& on_bytes, io::Deadline deadline);
    Result<void> receive(Bytes first, media::Publication& publication, const std::function<void(std::size_t)>& on_bytes,
                         io::Deadline deadline);
    Result<void> take(Bytes bytes, media::Ingest& ingest);
    // Client
    const session::ClientRequest& request() const override { return request_; }
    session::ClientFigures figures() const override { return figures_; }
    void kick(std::string reason) override;

    const PublishContext context_;
    const session::ClientRequest request_;
    io::PipeReader& pipe_;
    const Log& log_;
    session::StreamPlan plan_;
    session::ClientFigures figures_;
    wire::flv::FlvReader reader_;
    std::string kick_reason_;
    std::optional<session::ClientEntry> entry_;  // unless it is hidden
};

}  // namespace live::service::engines
