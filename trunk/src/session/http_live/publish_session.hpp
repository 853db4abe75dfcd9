// PublishSession: one publisher whose request body is an endless FLV file. The response is sent when it has ended, or at once
// when it may not publish.
#pragma once

#include <memory>
#include <string>

#include "io/fibers/deadline.hpp"
#include "media/ingest/ingest.hpp"
#include "media/source/publication.hpp"
#include "session/common/client_table.hpp"
#include "session/http/exchange.hpp"
#include "session/http_live/context.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::session::http_live {

class PublishSession final : private Client {
public:
    // Everything referred to outlives this.
    PublishSession(http::Exchange& exchange, Context& context, ClientRequest request);

    // Until the body ends (then it is answered), or something ends the connection.
    Result<void> run(io::Deadline deadline);

private:
    Result<void> publish(io::Deadline deadline);
    Result<void> refuse(const Error& error, io::Deadline deadline);
    Result<void> receive(std::unique_ptr<media::Publication> publication, io::Deadline deadline);
    Result<void> take(Bytes bytes, media::Ingest& ingest);
    // Client
    const ClientRequest& request() const override { return request_; }
    ClientFigures figures() const override { return figures_; }
    void kick(std::string reason) override;

    http::Exchange& exchange_;
    Context& context_;
    const ClientRequest request_;
    StreamPlan plan_;
    ClientFigures figures_;
    wire::flv::FlvReader reader_;
    std::string kick_reason_;
    ClientEntry entry_;
};

}  // namespace live::session::http_live
