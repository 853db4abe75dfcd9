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

void Drain::begin(std::chrono::milliseconds limit, To to, io::Deadline deadline) {
    has_begun_ = true;
    to_ = to;
    since_ = io::now();
    limit_ = limit;
    if (to == To::other_nodes)
        node_.drain(deadline);
    const auto clients = count_clients();
    LOG_INFO(log_, "drain begins, limit={} ms, publishers={}, players={}", limit.count(), clients.publishers, clients.players);
}

// A stream may be published at the new program in a moment, and is pulled from there then.
void Drain::keep_players() {
    std::unordered_map<std::string, TimePoint> published_at;
    streams_.for_each([&](media::Source& source) {
        const auto known = published_at_.find(source.url());
        const TimePoint last = source.is_published() || known == published_at_.end() ? io::now() : known->second;
        published_at.emplace(source.url(), last);
        source.set_may_return(io::now() - last < kReturnLimit);
    });
    published_at_ = std::move(published_at);
}

void Drain::step() {
    if (to_ == To::new_program)
        keep_players();
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
        const auto to = place_for(request);
        if (!to || !client.client().ask_to_move(*to))
            return;
        ++now;
        ++asked_total_;
        asked.insert(request.id);
        LOG_INFO(log_, "drain: client {} of {} is asked to go on at {}", request.id, client.plan()->url,
                 to->is_here ? "the new process" : to->rtmp);
    });
    asked_ = std::move(asked);
}

std::optional<session::Redirect> Drain::place_for(const session::ClientRequest& request) {
    if (to_ == To::new_program)
        return session::Redirect{.is_here = true};
    return is_publisher(request.kind) ? placer_.other_for_publisher(request) : placer_.send_on(request);
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
