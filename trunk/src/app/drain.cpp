#include "app/drain.hpp"

#include <utility>

#include "base/log_format.hpp"
#include "io/loop.hpp"

namespace live::app {

namespace {

// Other nodes and edges follow their streams by themselves.
bool is_counted(session::ClientEntry& client) {
    const session::ClientRequest& request = client.client().request();
    return client.plan() != nullptr && request.kind != session::ClientKind::relay_pull && !request.is_relay();
}

}  // namespace

void Drain::begin(std::chrono::milliseconds limit, io::Deadline deadline) {
    has_begun_ = true;
    since_ = io::now();
    limit_ = limit;
    node_.drain(deadline);
    const auto clients = count_clients();
    LOG_INFO(log_, "drain begins, limit={} ms, publishers={}, players={}", limit.count(), clients.publishers, clients.players);
}

void Drain::step() {
    std::unordered_set<std::string> asked;
    std::size_t now = 0;
    clients_.for_each([&](session::ClientEntry& client) {
        const session::ClientRequest& request = client.client().request();
        if (!is_counted(client))
            return;
        if (asked_.contains(request.id)) {
            asked.insert(request.id);
            return;
        }
        if (now >= kAskedAtOnce)
            return;
        const auto to = is_publisher(request.kind) ? placer_.other_for_publisher(request) : placer_.send_on(request);
        if (!to || !client.client().ask_to_move(*to))
            return;
        ++now;
        ++asked_total_;
        asked.insert(request.id);
        LOG_INFO(log_, "drain: client {} of {} is asked to go on at {}", request.id, client.plan()->url, to->rtmp);
    });
    asked_ = std::move(asked);
}

bool Drain::is_over() const {
    const auto clients = count_clients();
    return clients.publishers + clients.players == 0;
}

api::DrainFacts::Clients Drain::count_clients() const {
    api::DrainFacts::Clients counted;
    clients_.for_each([&](session::ClientEntry& client) {
        if (is_counted(client))
            ++(is_publisher(client.client().request().kind) ? counted.publishers : counted.players);
    });
    return counted;
}

api::DrainFacts Drain::facts() const {
    api::DrainFacts facts;
    facts.is_draining = has_begun_;
    facts.limit = limit_;
    if (has_begun_)
        facts.lasted = std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - since_);
    facts.clients = count_clients();
    facts.asked = asked_total_;
    facts.sent_elsewhere = node_.placements.sent;
    return facts;
}

}  // namespace live::app
