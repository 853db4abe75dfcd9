#include "service/files/sessions.hpp"

#include <algorithm>
#include <utility>

#include "io/loop.hpp"

namespace live::service::files {

Session::Session(session::ClientTable& clients, session::StreamEvents& events, session::ClientRequest request,
                 session::StreamPlan plan, session::Places::Place place, Duration idle_limit, TimePoint now)
    : request_(std::move(request)),
      plan_(std::move(plan)),
      place_(std::move(place)),
      idle_limit_(idle_limit),
      last_seen_(now),
      entry_(clients, *this) {
    admitted_.emplace(events, request_, plan_);
    stay_.emplace(entry_, plan_, now);
}

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

Result<std::optional<session::Redirect>> Sessions::open(session::ClientRequest request, Duration idle_limit,
                                                        io::Deadline deadline) {
    auto place = TRY(places_.take(session::Places::Kind::viewer, request.peer_ip, 0, io::now()));
    auto served = admission_.serve_play(request, deadline);
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

// Kicked sessions are kept; otherwise their players could start again.
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

Result<void> Sessions::check(const session::ClientRequest& request) const { return admission_.check_play(request); }

Result<std::optional<session::Redirect>> Sessions::pull(const session::ClientRequest& request, io::Deadline deadline) {
    const auto place = TRY(places_.take(session::Places::Kind::viewer, request.peer_ip, 0, io::now()));
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
        session.leave(Error(Errc::closed, "the player has asked for nothing any more"));
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
