// ClientTable: the connected clients, for operators to list, measure and kick. A client enters a stream when it has been admitted
// to it and leaves it when that is over; watchers (statistics, the access log) are notified.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "session/common/admission.hpp"

namespace live::session {

// The usage of one client so far.
struct ClientFigures {
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    // Players only.
    std::uint64_t delivered_packets = 0;
    std::uint64_t dropped_packets = 0;  // skipped because it was too slow
    std::uint64_t queued_packets = 0;   // not sent yet
    MediaTime queue_delay{};            // from the oldest to the newest queued packet
    bool is_paused = false;             // paused by the player
    // For protocols whose players acknowledge data, in a unit of the protocol. There the number of sent bytes shows no progress.
    struct Taken {
        std::uint64_t amount = 0;
        bool is_all = true;
    };
    std::optional<Taken> taken{};

    ClientFigures& operator+=(const ClientFigures& more) {
        received_bytes += more.received_bytes;
        sent_bytes += more.sent_bytes;
        delivered_packets += more.delivered_packets;
        dropped_packets += more.dropped_packets;
        queued_packets += more.queued_packets;
        queue_delay = std::max(queue_delay, more.queue_delay);
        return *this;
    }
};

// Measurements of a client's link that only its protocol has, for the API.
struct LinkFigures {
    using Value = std::variant<std::uint64_t, double, bool, std::string>;
    std::string_view name;  // of the protocol
    std::vector<std::pair<std::string_view, Value>> values;

    // nullptr if missing.
    const Value* find(std::string_view key) const {
        const auto found = std::ranges::find(values, key, [](const auto& value) { return value.first; });
        return found == values.end() ? nullptr : &found->second;
    }
};

// A connected client. Lives in its session's fiber. Nothing here may suspend.
class Client {
public:
    virtual const ClientRequest& request() const = 0;
    virtual ClientFigures figures() const = 0;
    virtual std::optional<LinkFigures> link_figures() const { return std::nullopt; }
    // Ends the connection; the session's fiber cleans up when it runs next. `reason` is for the log. Called by ClientEntry.
    virtual void kick(std::string reason) = 0;
    // Announces to a publisher, if its protocol has a message for it, that the server is about to stop; it has a moment to leave
    // by itself. Protocols without such a message end the connection.
    virtual void ask_to_leave(std::string reason) { kick(std::move(reason)); }
    // The stream that it publishes takes too much memory, which is given back once the stream is unpublished. `why` is for the
    // log.
    virtual void lose_stream(std::string why) { kick(std::move(why)); }
    // Asks the client to reconnect to another server, if it has announced support for that. False: it has not.
    virtual bool ask_to_move(const Redirect& /*to*/) { return false; }

protected:
    ~Client() = default;
};

// The reason why a client left a stream.
struct SessionEnd {
    std::string why;      // a sentence
    bool failed = false;  // neither side intended it
    bool kicked = false;  // the server ended it, for this reason
};
SessionEnd end_of(const Result<void>& ended);

class ClientEntry;

// Must not suspend.
class ClientWatcher {
public:
    virtual void on_entered(ClientEntry& entry) = 0;
    // Once for each on_entered. The client's figures are final.
    virtual void on_left(ClientEntry& entry, const SessionEnd& end) = 0;
    // A client was not admitted.
    virtual void on_refused(const ClientEntry& entry, const Error& error) = 0;

protected:
    ~ClientWatcher() = default;
};

class ClientTable {
public:
    // To be called before the first client. The watcher outlives the clients.
    void add_watcher(ClientWatcher& watcher) { watchers_.push_back(&watcher); }
    std::size_t size() const { return entries_.size(); }
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (ClientEntry* entry : entries_)
            visit(*entry);
    }

private:
    friend class ClientEntry;
    std::vector<ClientEntry*> entries_;
    std::vector<ClientWatcher*> watchers_;
};

// Keeps a client in the table for its own lifetime. The table and the client outlive it.
class ClientEntry {
public:
    ClientEntry(ClientTable& table, Client& client);
    ~ClientEntry();
    ClientEntry(const ClientEntry&) = delete;
    ClientEntry& operator=(const ClientEntry&) = delete;

    Client& client() { return client_; }
    const Client& client() const { return client_; }
    // The plan of the entered stream; nullptr before and after.
    const StreamPlan* plan() const { return plan_; }
    // Time of entry.
    TimePoint since() const { return since_; }
    // The client's figures, without the bytes from before it entered.
    ClientFigures figures() const;
    void kick(std::string reason);
    void ask_to_leave(std::string reason);
    void lose_stream(std::string why);
    // It was refused.
    void refuse(const Error& error);

private:
    friend class StreamStay;
    void enter(const StreamPlan& plan, TimePoint now);
    void leave(SessionEnd end);

    bool is_told_ = false;  // the watchers have been notified; never for a connection to another worker
    ClientTable& table_;
    Client& client_;
    std::size_t index_;
    const StreamPlan* plan_ = nullptr;
    TimePoint since_{};
    Traffic before_;
    std::unique_ptr<std::string> kick_reason_;  // few clients have one: a pointer's memory for the others
};

// A client in one stream, from admission on. Everything referred to outlives it.
class StreamStay {
public:
    StreamStay(ClientEntry& entry, const StreamPlan& plan, TimePoint now) : entry_(entry) { entry_.enter(plan, now); }
    ~StreamStay() { end({}); }
    StreamStay(const StreamStay&) = delete;
    StreamStay& operator=(const StreamStay&) = delete;

    // To be called while the source of the client's figures still exists. Once; otherwise the destructor does it.
    void end(const Result<void>& ended) {
        if (entry_.plan() != nullptr)
            entry_.leave(end_of(ended));
    }

private:
    ClientEntry& entry_;
};

}  // namespace live::session
