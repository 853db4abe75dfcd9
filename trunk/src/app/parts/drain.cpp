#include "app/parts/drain.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::app {

namespace {

// Other nodes and edges reconnect by themselves.
bool is_counted(session::ClientEntry& client) {
    const session::ClientRequest& request = client.client().request();
    return client.plan() != nullptr && request.kind != session::ClientKind::relay_pull && !request.is_relay();
}

// Edges of other servers are moved to a new program, because they do not look for one.
bool is_moved(session::ClientEntry& client, Drain::To to) {
    const session::ClientRequest& request = client.client().request();
    const bool is_edge = to == Drain::To::new_program && client.plan() != nullptr && request.is_relay() && !request.is_sibling;
    return is_edge || is_counted(client);
}

}  // namespace

void Drain::begin(std::chrono::milliseconds limit, To to, io::Deadline deadline) {
    to_ = to;
    plan_.begin(limit, io::now());
    if (to == To::other_nodes)
        node_.drain(deadline);
    const auto clients = count_clients();
    LOG_INFO(log_, "drain begins, limit={} ms, publishers={}, players={}", limit.count(), clients.publishers, clients.players);
}

// The publisher may connect to the new program; the stream is pulled from there then.
void Drain::keep_players() {
    std::unordered_map<std::string, TimePoint> published_at;
    streams_.for_each([&](media::Source& source) {
        const auto known = published_at_.find(source.url());
        const TimePoint last = source.is_published() || known == published_at_.end() ? io::now() : known->second;
        published_at.emplace(source.url(), last);
        source.publications().set_may_return(io::now() - last < kReturnLimit);
    });
    published_at_ = std::move(published_at);
}

void Drain::step(Ask whom) {
    if (to_ == To::new_program)
        keep_players();
    if (whom == Ask::nobody)
        return;
    using Verdict = supervisor::DrainPlan::Verdict;
    using Way = supervisor::DrainPlan::Way;
    std::vector<session::ClientEntry*> sessions;
    plan_.begin_step();
    clients_.for_each([&](session::ClientEntry& client) {
        const session::ClientRequest& request = client.client().request();
        if (!is_moved(client, to_))
            return;
        const bool ends = to_ == To::other_nodes && request.kind.row().is_ended_by_drain;
        const Verdict verdict = plan_.consider(request.id, ends ? Way::end : Way::ask);
        if (verdict == Verdict::end)
            sessions.push_back(&client);
        else if (verdict == Verdict::ask)
            ask(client);
    });
    end_sessions(std::move(sessions));
    plan_.end_step();
}

void Drain::ask(session::ClientEntry& client) {
    const session::ClientRequest& request = client.client().request();
    const auto to = place_for(request);
    if (!to || !client.client().ask_to_move(*to))
        return;
    plan_.note_asked(request.id);
    std::string where = "another node";
    if (to->is_here)
        where = "the new process";
    else if (!to->rtmp.empty())
        where = to->rtmp;
    LOG_INFO(log_, "drain: client {} of {} is asked to reconnect, to={}", request.id, client.plan()->url, where);
}

// Keeps sessions for which there is no other place.
void Drain::end_sessions(std::vector<session::ClientEntry*> sessions) {
    std::erase_if(sessions, [this](session::ClientEntry* client) { return !redirector_.move(client->client().request()); });
    sessions.resize(plan_.sessions_to_end(sessions.size(), io::now()));
    for (session::ClientEntry* client : sessions) {
        plan_.note_asked(client->client().request().id);
        client->kick("this node drains; the client can continue at another node");
    }
}

bool Drain::is_late() const { return plan_.is_late(io::now()); }

std::optional<session::Redirect> Drain::place_for(const session::ClientRequest& request) {
    if (to_ == To::new_program)
        return session::Redirect{.is_here = true};
    return redirector_.move(request);
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
    facts.is_draining = plan_.has_begun();
    facts.limit = plan_.limit();
    facts.lasted = plan_.lasted(io::now());
    facts.clients = count_clients();
    facts.asked = plan_.asked();
    facts.sent_elsewhere = node_.placements.sent;
    return facts;
}

}  // namespace live::app
