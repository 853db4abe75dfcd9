// Openings: the clients that wait for their admission, and those that were refused recently. A client repeats its request until
// it is answered; one that stops repeating has given up.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/srt/listener.hpp"
#include "session/srt/port/half_open.hpp"

namespace live::session::srt {

// The other end of a connection: its address and its socket id.
struct PeerKey {
    TransportAddress from;
    engine::srt::SocketId socket_id{};

    static PeerKey of(const engine::srt::Request& request) { return {request.from, request.socket_id}; }
    bool operator==(const PeerKey&) const = default;
    struct Hash {
        std::size_t operator()(const PeerKey& client) const {
            return TransportAddress::Hash()(client.from) ^ static_cast<std::size_t>(client.socket_id) * 0x9E37'79B9U;
        }
    };
};

class Openings {
public:
    // Interval between checks of waiting clients.
    static constexpr std::chrono::milliseconds kLookEvery{250};
    // A client that does not receive its refusal repeats its request for some seconds.
    static constexpr std::chrono::seconds kRefusalsKept{10};
    static constexpr std::size_t kRefusalsMax = 1'000;

    std::size_t size() const { return waiting_.size(); }
    // The time of the next check; TimePoint::max() if no client waits.
    TimePoint next_look() const { return waiting_.empty() ? TimePoint::max() : next_look_; }

    void add(const PeerKey& client, HalfOpen::Place place, TimePoint now);
    // A repeated request. False: the client does not wait.
    bool note_repeated(const PeerKey& client, TimePoint now);
    // The admission of the client is requested by `fiber`. Without a repeated request for `patience` it has given up. Zero:
    // never.
    void begin(const PeerKey& client, std::chrono::milliseconds patience, std::uint64_t fiber);
    bool has_given_up(const PeerKey& client, TimePoint now) const;
    // The place of the client counts for this virtual host. Errc::limit.
    Result<void> enter_vhost(const PeerKey& client, const std::string& vhost, TimePoint now);
    // The client has been decided.
    void remove(const PeerKey& client) { waiting_.erase(client); }
    // Calls `give_up` with the fiber of each client that has given up, if a check is due.
    template <class GiveUp>
    void look(TimePoint now, GiveUp&& give_up) {
        if (now < next_look())
            return;
        next_look_ = now + kLookEvery;
        for (const auto& [client, waiting] : waiting_)
            if (waiting.has_given_up(now))
                give_up(waiting.fiber);
    }

    void add_refusal(const PeerKey& client, engine::srt::RejectReason reason, TimePoint now);
    std::optional<engine::srt::RejectReason> refusal_of(const PeerKey& client) const;
    void drop_old_refusals(TimePoint now);

private:
    struct Waiting {
        TimePoint asked_at;  // last
        HalfOpen::Place place;
        std::chrono::milliseconds patience{};
        std::uint64_t fiber = 0;

        bool has_given_up(TimePoint now) const { return patience.count() > 0 && now - asked_at > patience; }
    };
    struct Refusal {
        engine::srt::RejectReason reason{};
        TimePoint at;
    };

    std::unordered_map<PeerKey, Waiting, PeerKey::Hash> waiting_;
    TimePoint next_look_;
    std::unordered_map<PeerKey, Refusal, PeerKey::Hash> refusals_;
};

}  // namespace live::session::srt
