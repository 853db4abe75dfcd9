// A client for tests of the statistics and of what shows them: its figures are what the test says.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "session/common/client_table.hpp"

namespace live::service::stats {

struct FakeClient final : session::Client {
    FakeClient(session::ClientTable& table, session::ClientKind kind, const std::string& stream, std::string id)
        : entry(table, *this) {
        asked.kind = kind;
        asked.id = std::move(id);
        asked.vhost = "h";
        asked.app = "live";
        asked.stream = stream;
        asked.tc_url = "rtmp://h/live?secret=1";
        plan.url = "/live/" + stream;
        plan.vhost = "__defaultVhost__";
    }
    const session::ClientRequest& request() const override { return asked; }
    session::ClientFigures figures() const override { return now; }
    void kick(std::string reason) override { kicked = std::move(reason); }
    void enter(TimePoint when) { stay.emplace(entry, plan, when); }
    void leave(const Result<void>& ended = {}) {
        stay->end(ended);
        stay.reset();
    }

    session::ClientRequest asked;
    session::StreamPlan plan;
    session::ClientFigures now;
    std::string kicked;
    session::ClientEntry entry;
    std::optional<session::StreamStay> stay;
};

}  // namespace live::service::stats
