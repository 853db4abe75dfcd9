// Events: forwards the events of streams and of the cluster to the parts that act on them.
#pragma once

#include <string>

#include "app/parts/client_core.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/service_list.hpp"
#include "session/common/admission.hpp"

namespace live::app {

class Outputs;
class Relays;

class Events final : public session::StreamEvents, public service::cluster::ClusterEvents {
public:
    // All must outlive this. They are used from the first client on, and not before.
    struct Receivers {
        service::ServiceList& services;
        ClientCore& clients;
        service::admission::AdmissionPolicies& admission;
        Relays& relays;
        Outputs& outputs;
    };
    explicit Events(const Receivers& receivers) : to_(receivers) {}

    // session::StreamEvents
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_publish_ended(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override { to_.services.on_unpublished(url); }
    void on_stand_in(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        to_.services.on_stand_in(request, plan);
    }
    void on_play_ended(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_closed(const session::ClientRequest& request, const session::Traffic& traffic) override;

    // service::cluster::ClusterEvents
    void on_taken(const std::string& url) override;
    void on_lost(const std::string& url, const std::string& why) override { to_.clients.kick_publisher(url, why); }
    void on_moved(const std::string& url) override;
    void on_elsewhere(const std::string& url) override;

private:
    const Receivers to_;
};

}  // namespace live::app
