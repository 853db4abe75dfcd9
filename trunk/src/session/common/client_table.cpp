#include "session/common/client_table.hpp"

#include "base/check.hpp"

namespace live::session {

SessionEnd end_of(const Result<void>& ended) {
    if (ended.ok())
        return {"the client stopped", false};
    switch (ended.code()) {
        case Errc::closed: return {ended.error().sentence(), false};
        case Errc::cancelled: return {"the server stops", false};
        default: return {ended.error().sentence(), true};
    }
}

ClientEntry::ClientEntry(ClientTable& table, Client& client) : table_(table), client_(client), index_(table.entries_.size()) {
    table_.entries_.push_back(this);
}

ClientEntry::~ClientEntry() {
    CHECK(plan_ == nullptr);
    table_.entries_[index_] = table_.entries_.back();
    table_.entries_[index_]->index_ = index_;
    table_.entries_.pop_back();
}

void ClientEntry::kick(std::string reason) {
    kick_reason_ = std::make_unique<std::string>(reason);
    client_.kick(std::move(reason));
}

void ClientEntry::ask_to_leave(std::string reason) {
    kick_reason_ = std::make_unique<std::string>(reason);
    client_.ask_to_leave(std::move(reason));
}

void ClientEntry::lose_stream(std::string why) {
    kick_reason_ = std::make_unique<std::string>(why);
    client_.lose_stream(std::move(why));
}

void ClientEntry::refuse(const Error& error) {
    if (client_.request().is_sibling)
        return;
    for (ClientWatcher* watcher : table_.watchers_)
        watcher->on_refused(*this, error);
}

ClientFigures ClientEntry::figures() const {
    ClientFigures figures = client_.figures();
    figures.received_bytes -= before_.received_bytes;
    figures.sent_bytes -= before_.sent_bytes;
    return figures;
}

void ClientEntry::enter(const StreamPlan& plan, TimePoint now) {
    CHECK(plan_ == nullptr);
    plan_ = &plan;
    since_ = now;
    const ClientFigures figures = client_.figures();
    before_ = {figures.received_bytes, figures.sent_bytes};
    is_told_ = !client_.request().is_sibling;
    if (!is_told_)
        return;
    for (ClientWatcher* watcher : table_.watchers_)
        watcher->on_entered(*this);
}

void ClientEntry::leave(SessionEnd end) {
    if (const auto reason = std::exchange(kick_reason_, nullptr); reason != nullptr && !reason->empty())
        end = {std::move(*reason), false, true};
    if (is_told_)
        for (ClientWatcher* watcher : table_.watchers_)
            watcher->on_left(*this, end);
    plan_ = nullptr;
}

}  // namespace live::session
