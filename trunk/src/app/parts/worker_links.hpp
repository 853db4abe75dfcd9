// WorkerLinks: the connections of this process to the other workers of the server, and everything that is exchanged over them:
// streams, datagrams, segments and offers. In a process that is alone they do nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/parts/part.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/http_client/http_client.hpp"
#include "service/workers/datagram_forwarder.hpp"
#include "service/workers/offer_forwarder.hpp"
#include "service/workers/remote_segments.hpp"
#include "service/workers/worker_service.hpp"
#include "session/common/protocol.hpp"

namespace live::app {

class WorkerLinks final : public Part {
public:
    // All must outlive this. Admission is used from the first client on, so it may be constructed later.
    struct Shared {
        const ServerNames& names;
        media::StreamTable& streams;
        const service::http_client::HttpClient& http_client;
        service::cluster::ClusterEvents& events;
        const session::Protocols& protocols;
        const service::admission::AdmissionPolicies& admission;
        // Serves a connection from another worker. Must not suspend.
        std::function<void(engine::workers::Purpose, std::unique_ptr<io::TcpStream>)> serve;
    };
    WorkerLinks(const Shared& shared, const Log& log);
    WorkerLinks(const WorkerLinks&) = delete;
    WorkerLinks& operator=(const WorkerLinks&) = delete;

    service::workers::WorkerService& service() { return service_; }
    service::workers::DatagramForwarder& forwarder() { return forwarder_; }
    service::workers::RemoteSegments& files() { return files_; }
    service::workers::OfferForwarder& offers() { return offers_; }

    void add_services(service::ServiceList& services) override;

private:
    service::workers::WorkerContext context();
    // nullopt for a stream that the workers do not share.
    std::optional<std::string> shared_url(const session::ClientRequest& player) const;

    const Shared shared_;
    service::workers::WorkerService service_;
    service::workers::DatagramForwarder forwarder_;
    service::workers::RemoteSegments files_;
    service::workers::OfferForwarder offers_;
};

}  // namespace live::app
