// ClientTable: who is connected, for whoever operates the server: to list them, to count what they use, and to send one away. A
// client enters a stream when it has been admitted to it and leaves it when that is over; watchers (statistics, the access log)
// are told.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "session/common/admission.hpp"

namespace live::session {

// What one client has used so far.
struct ClientFigures {
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    // Of a player.
    std::uint64_t delivered_packets = 0;
    std::uint64_t dropped_packets = 0;  // that it was too slow for
    std::uint64_t queued_packets = 0;   // that it has not been sent yet
    MediaTime queue_delay{};            // from the oldest of these to the newest
    bool is_paused = false;             // it has asked for silence

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

// One connected client. Lives in its session's fiber. Nothing here may suspend.
class Client {
public:
    virtual const ClientRequest& request() const = 0;
    virtual ClientFigures figures() const = 0;
    // Ends the connection; the session's fiber cleans up when it runs next. `reason` is for the log. Called by ClientEntry.
    virtual void kick(std::string reason) = 0;
    // Tells a publisher, in the words of its protocol if that has some, that the server is about to stop; it has a moment to
    // leave by itself. Protocols without such words end the connection.
    virtual void ask_to_leave(std::string reason) { kick(std::move(reason)); }

protected:
    ~Client() = default;
};

// Why a client's time with a stream is over.
struct SessionEnd {
    std::string why;      // a sentence
    bool failed = false;  // neither side wanted it
};
SessionEnd end_of(const Result<void>& ended);

class ClientEntry;

// Must not suspend.
class ClientWatcher {
public:
    virtual void on_entered(ClientEntry& entry) = 0;
    // Once for each on_entered. The client's figures are final.
    virtual void on_left(ClientEntry& entry, const SessionEnd& end) = 0;
    // A client that was not admitted.
    virtual void on_refused(const ClientEntry& entry, const Error& error) = 0;

protected:
    ~ClientWatcher() = default;
};

class ClientTable {
public:
    // Before any client. The watcher outlives the clients.
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

// Keeps a client in the table while it lives. The table and the client outlive it.
class ClientEntry {
public:
    ClientEntry(ClientTable& table, Client& client);
    ~ClientEntry();
    ClientEntry(const ClientEntry&) = delete;
    ClientEntry& operator=(const ClientEntry&) = delete;

    Client& client() { return client_; }
    const Client& client() const { return client_; }
    // Of the stream it has entered; nullptr before and after.
    const StreamPlan* plan() const { return plan_; }
    // When it entered.
    TimePoint since() const { return since_; }
    // The client's figures, but for the bytes of before it entered.
    ClientFigures figures() const;
    void kick(std::string reason);
    void ask_to_leave(std::string reason);
    // It has been told that it may not.
    void refuse(const Error& error);

private:
    friend class StreamStay;
    void enter(const StreamPlan& plan, TimePoint now);
    void leave(SessionEnd end);

    ClientTable& table_;
    Client& client_;
    std::size_t index_;
    const StreamPlan* plan_ = nullptr;
    TimePoint since_{};
    Traffic before_;
    std::string kick_reason_;
};

// A client's time with one stream, from admission on. What is referred to outlives it.
class StreamStay {
public:
    StreamStay(ClientEntry& entry, const StreamPlan& plan, TimePoint now) : entry_(entry) { entry_.enter(plan, now); }
    ~StreamStay() { end({}); }
    StreamStay(const StreamStay&) = delete;
    StreamStay& operator=(const StreamStay&) = delete;

    // While what the client's figures are made of still exists. Once; without it the destructor does so.
    void end(const Result<void>& ended) {
        if (entry_.plan() != nullptr)
            entry_.leave(end_of(ended));
    }

private:
    ClientEntry& entry_;
};

}  // namespace live::session
