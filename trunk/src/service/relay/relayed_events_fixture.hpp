// For tests of pulls: records the publications of relayed streams.
#pragma once

#include <string>
#include <vector>

#include "session/common/admission.hpp"

namespace live::service::relay {

class RelayedEvents final : public session::StreamEvents {
public:
    void on_published(const session::ClientRequest&, const session::StreamPlan&) override { ++published; }
    void on_publish_ended(const session::ClientRequest&, const session::StreamPlan&) override { ++ended; }
    void on_unpublished(const std::string& url) override { unpublished.push_back(url); }
    void on_play_ended(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_closed(const session::ClientRequest&, const session::Traffic&) override {}

    int published = 0;
    int ended = 0;
    std::vector<std::string> unpublished;
};

}  // namespace live::service::relay
