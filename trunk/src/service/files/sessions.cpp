#include "service/files/sessions.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::files {

Session::Session(session::ClientTable& clients, session::StreamEvents& events, session::ClientRequest request,
                 session::StreamPlan plan, session::ConnectionLimits::Place place, Duration idle_limit, TimePoint now)
    : request_(std::move(request)), plan_(std::move(plan)), place_(std::move(place)), idle_limit_(idle_limit), last_seen_(now) {
    session::Client& client = *this;
    entry_.emplace(clients, client);
    admitted_.emplace(events, request_, plan_);
    stay_.emplace(*entry_, plan_, now);
}

Session::Session(session::ClientRequest request, Duration idle_limit, bool has_returned, TimePoint now)
    : request_(std::move(request)), idle_limit_(idle_limit), last_seen_(now), has_returned_(has_returned) {}

Session::~Session() { leave({}); }

session::ClientFigures Session::figures() const {
    session::ClientFigures figures;
    figures.sent_bytes = sent_bytes_;
    return figures;
}

void Session::leave(const Result<void>& ended) {
    if (!stay_)
        return;
    stay_->end(ended);
    stay_.reset();
    admitted_.reset();
}

std::optional<std::uint64_t> Session::take_updates() {
    if (!std::exchange(has_news_, false) && sent_bytes_ == told_bytes_)
        return std::nullopt;
    return sent_bytes_ - std::exchange(told_bytes_, sent_bytes_);
}

Session* Sessions::find(std::string_view name) {
    const auto found = sessions_.find(std::string(name));
    return found == sessions_.end() ? nullptr : found->second.get();
}

namespace {

// Names allowed beyond twice the number of sessions.
constexpr std::size_t kOldMax = 64;

// A refused client is in the client table while the refusal is reported, so that observers see it.
class RefusedClient final : public session::Client {
public:
    explicit RefusedClient(const session::ClientRequest& request) : request_(request) {}
    const session::ClientRequest& request() const override { return request_; }
    session::ClientFigures figures() const override { return {}; }
    void kick(std::string) override {}

private:
    const session::ClientRequest& request_;
};

}  // namespace

std::string Sessions::name_for(std::string_view key) const { return homes_ == nullptr ? random_id() : homes_->name_for(key); }

Sessions::Opened Sessions::open(session::ClientRequest request, Duration idle_limit, io::Deadline deadline) {
    if (is_elsewhere(request.id)) {
        auto opened = open_guest(request, idle_limit, deadline);
        // Its home is being restarted.
        if (opened.ok() || opened.code() != Errc::closed)
            return opened;
    }
    return admit(std::move(request), idle_limit, Stream::brings, deadline);
}

Result<void> Sessions::open_for_guest(session::ClientRequest request, Duration idle_limit, io::Deadline deadline) {
    if (TRY(admit(std::move(request), idle_limit, Stream::stays_away, deadline)))
        return Error(Errc::not_found, "the stream is on another server");
    return {};
}

Sessions::Opened Sessions::open_guest(const session::ClientRequest& request, Duration idle_limit, io::Deadline deadline) {
    const bool was_there = TRY(homes_->open(request, idle_limit, deadline));
    auto guest = request;
    guest.is_admitted = true;
    auto served = admission_.serve_play(guest, deadline);
    if (!served.ok())
        return served.code() == Errc::closed ? Error(Errc::not_found, served.error().sentence()) : Error(served.error());
    if (auto* elsewhere = std::get_if<session::Redirect>(&*served))
        return std::optional(std::move(*elsewhere));
    events_.on_play_ended(guest, std::get<session::StreamPlan>(*served));
    if (sessions_.contains(request.id))
        return std::optional<session::Redirect>();
    if (sessions_.size() >= sessions_max_ && !make_room())
        return Error(Errc::limit, "there are too many HLS and DASH sessions");
    new_.push_back(request.id);
    sessions_.emplace(request.id, std::make_unique<Session>(request, idle_limit, was_there, io::now()));
    return std::optional<session::Redirect>();
}

void Sessions::note_passing(const std::string& name, std::uint64_t bytes) {
    if (is_elsewhere(name) && (passing_.size() < sessions_max_ || passing_.contains(name)))
        passing_[name] += bytes;
}

std::vector<Sessions::SessionUpdate> Sessions::take_updates() {
    std::vector<SessionUpdate> all;
    for (const auto& [name, bytes] : std::exchange(passing_, {}))
        all.push_back({name, bytes});
    for (const auto& [name, session] : sessions_)
        if (session->is_guest())
            if (const auto bytes = session->take_updates())
                all.push_back({name, *bytes});
    return all;
}

Sessions::State Sessions::note(const SessionUpdate& update, TimePoint now) {
    Session* const session = find(update.name);
    if (session == nullptr || session->is_guest())
        return State::unknown;
    session->add_sent(update.sent_bytes);
    if (session->is_kicked())
        return State::kicked;
    session->touch(now);
    return State::plays;
}

void Sessions::settle(std::string_view name, State state) {
    Session* const session = find(name);
    if (session == nullptr || !session->is_guest() || state == State::plays)
        return;
    if (state == State::kicked)
        session->note_kicked();
    else
        sessions_.erase(std::string(name));
}

Sessions::Opened Sessions::admit(session::ClientRequest request, Duration idle_limit, Stream stream, io::Deadline deadline) {
    auto place = TRY(places_.take(session::ConnectionLimits::Kind::viewer, request.peer_ip, 0, io::now()));
    auto served =
        stream == Stream::brings ? admission_.serve_play(request, deadline) : admission_.play(request, deadline).served();
    if (!served.ok()) {
        RefusedClient refused(request);
        session::ClientEntry(clients_, refused).refuse(served.error());
        return served.error();
    }
    if (auto* elsewhere = std::get_if<session::Redirect>(&*served))
        return std::optional(std::move(*elsewhere));
    auto& plan = std::get<session::StreamPlan>(*served);
    const bool is_known = sessions_.contains(request.id);
    if (is_known || (sessions_.size() >= sessions_max_ && !make_room())) {
        events_.on_play_ended(request, plan);
        if (is_known && find(request.id)->is_kicked())
            return Error(Errc::not_found, "this player has been disconnected");
        if (is_known)
            return std::optional<session::Redirect>();
        return Error(Errc::limit, "there are too many HLS and DASH sessions");
    }
    std::string name = request.id;
    new_.push_back(name);
    sessions_.emplace(std::move(name), std::make_unique<Session>(clients_, events_, std::move(request), std::move(plan),
                                                                 std::move(place), idle_limit, io::now()));
    return std::optional<session::Redirect>();
}

// Kicked sessions are kept, so that their players cannot return at once.
bool Sessions::make_room() {
    for (; !new_.empty(); new_.pop_front()) {
        const auto found = sessions_.find(new_.front());
        if (found == sessions_.end() || found->second->has_returned() || found->second->is_kicked())
            continue;
        found->second->leave(Error(Errc::limit, "its player had not come again when others came"));
        sessions_.erase(found);
        new_.pop_front();
        return true;
    }
    return false;
}

bool Sessions::plays(std::string_view name, const StreamName& stream) const {
    const auto found = sessions_.find(std::string(name));
    if (found == sessions_.end() || found->second->is_kicked())
        return false;
    const session::ClientRequest& request = found->second->request();
    return request.vhost == stream.vhost && request.app == stream.app && request.stream == stream.stream;
}

Result<void> Sessions::check(const session::ClientRequest& request) const { return admission_.check_play(request); }

Result<std::optional<session::Redirect>> Sessions::pull(const session::ClientRequest& request, io::Deadline deadline) {
    const auto place = TRY(places_.take(session::ConnectionLimits::Kind::viewer, request.peer_ip, 0, io::now()));
    auto served = admission_.serve_play(request, deadline);
    if (!served.ok())
        return served.error();
    if (auto* elsewhere = std::get_if<session::Redirect>(&*served))
        return std::optional(std::move(*elsewhere));
    events_.on_play_ended(request, std::get<session::StreamPlan>(*served));
    return std::optional<session::Redirect>();
}

std::optional<session::Redirect> Sessions::send_on(Session& session) {
    auto elsewhere = admission_.send_on(session.request());
    if (elsewhere && !elsewhere->http.empty())
        session.leave(Error(Errc::closed, "the player has been sent to another server"));
    return elsewhere;
}

void Sessions::expire(TimePoint now) {
    for (auto at = sessions_.begin(); at != sessions_.end();) {
        Session& session = *at->second;
        if (session.is_kicked())
            session.leave(Error(Errc::closed, "kicked"));
        if (!session.is_idle(now)) {
            ++at;
            continue;
        }
        session.leave(Error(Errc::closed, "the player has sent no more requests"));
        at = sessions_.erase(at);
    }
    if (new_.size() >= 2 * sessions_.size() + kOldMax)
        std::erase_if(new_, [this](const std::string& name) {
            const Session* session = find(name);
            return session == nullptr || session->has_returned();
        });
}

void Sessions::clear() {
    sessions_.clear();
    new_.clear();
}

}  // namespace live::service::files
