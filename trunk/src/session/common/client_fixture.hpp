// A client for tests of client watchers; the test sets its figures. Only tests include it.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "session/common/client_table.hpp"

namespace live::session {

struct FakeClient final : Client {
    FakeClient(ClientTable& table, ClientKind kind, const std::string& stream, std::string id) : entry(table, *this) {
        asked.kind = kind;
        asked.id = std::move(id);
        asked.vhost = "h";
        asked.app = "live";
        asked.stream = stream;
        asked.tc_url = "rtmp://h/live?secret=1";
        plan.url = "/live/" + stream;
        plan.vhost = "__defaultVhost__";
    }
    const ClientRequest& request() const override { return asked; }
    ClientFigures figures() const override { return now; }
    std::optional<LinkFigures> link_figures() const override { return link; }
    void kick(std::string reason) override { kicked = std::move(reason); }
    void enter(TimePoint when) { stay.emplace(entry, plan, when); }
    void leave(const Result<void>& ended = {}) {
        stay->end(ended);
        stay.reset();
    }

    ClientRequest asked;
    StreamPlan plan;
    ClientFigures now;
    std::optional<LinkFigures> link;
    std::string kicked;
    ClientEntry entry;
    std::optional<StreamStay> stay;
};

}  // namespace live::session
