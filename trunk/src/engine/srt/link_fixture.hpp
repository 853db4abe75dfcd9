// Two ends of SRT over a simulated link with loss, delay and reordering, on a clock that jumps from event to event.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "engine/srt/caller.hpp"
#include "engine/srt/handshake/connection_setup.hpp"
#include "engine/srt/listener.hpp"

namespace live::engine::srt {

struct LinkOptions {
    std::chrono::microseconds delay = 25ms;  // one way
    std::chrono::microseconds jitter{};      // added, up to so much: reorders
    unsigned loss_percent = 0;
    std::uint32_t seed = 1;
};

class SimulatedLink {
public:
    explicit SimulatedLink(const LinkOptions& options) : options_(options), random_(options.seed) {}

    void send(TimePoint now, Bytes datagram) {
        ++sent;
        if (options_.loss_percent > 0 && random_() % 100 < options_.loss_percent) {
            ++lost;
            return;
        }
        auto at = now + options_.delay;
        if (options_.jitter.count() > 0)
            at += std::chrono::microseconds(random_() % static_cast<std::uint64_t>(options_.jitter.count()));
        under_way_.emplace(at, std::vector<std::uint8_t>(datagram.begin(), datagram.end()));
    }
    TimePoint next() const { return under_way_.empty() ? TimePoint::max() : under_way_.begin()->first; }
    std::optional<std::vector<std::uint8_t>> arrived(TimePoint now) {
        if (under_way_.empty() || under_way_.begin()->first > now)
            return std::nullopt;
        auto datagram = std::move(under_way_.begin()->second);
        under_way_.erase(under_way_.begin());
        return datagram;
    }
    void set_loss(unsigned percent) { options_.loss_percent = percent; }

    std::uint64_t sent = 0;
    std::uint64_t lost = 0;

private:
    LinkOptions options_;
    std::mt19937 random_;
    std::multimap<TimePoint, std::vector<std::uint8_t>> under_way_;
};

inline const TransportAddress kCallerAddress{parse_ip("192.0.2.7").value(), 40'000};
inline const TransportAddress kListenerAddress{parse_ip("198.51.100.1").value(), 10'080};
inline constexpr std::string_view kPassphrase = "correct horse battery";
inline constexpr SocketId kCallerSocket{0x1111'1111};
inline constexpr SocketId kListenerSocket{0x2222'2222};

// A payload with its number inside.
inline Slice numbered_payload(std::uint64_t number, std::size_t bytes = 188) {
    Slice payload = Slice::allocate(bytes);
    const MutBytes into = payload.mutable_bytes();
    for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = static_cast<std::uint8_t>(i < 8 ? number >> (56 - 8 * i) : number + i);
    return payload;
}
inline std::uint64_t number_of(const Slice& payload) {
    ByteReader in(payload.bytes());
    return in.u64be().value();
}

class Pair {
public:
    struct Received {
        std::uint64_t number;
        TimePoint at;
    };
    struct End {
        std::unique_ptr<Connection> connection;
        std::vector<Received> received;
        std::uint64_t received_count = 0;
        std::uint64_t wrong = 0;    // out of order, or other bytes
        std::uint64_t skipped = 0;  // as the payloads say
        std::uint64_t next_number = 0;
    };

    Pair(const LinkOptions& options) : to_listener(options), to_caller(with_other_seed(options)) {}

    // Until both are connected, or the caller gives up.
    bool connect(Caller::Options calling, const ConnectionOptions& listening, std::string_view passphrase = {}) {
        calling.to = kListenerAddress;
        calling.socket_id = kCallerSocket;
        caller = std::make_unique<Caller>(now, std::move(calling));
        listening_ = listening;
        passphrase_ = passphrase;
        while (caller->state() == Caller::State::calling)
            step(now + 1s);
        return ends[0].connection != nullptr && ends[1].connection != nullptr;
    }
    // Ends that need no handshake.
    void connect_directly(Connection::Setup calling, Connection::Setup listening) {
        calling.peer = kListenerAddress;
        calling.socket_id = listening.peer_socket_id = kCallerSocket;
        listening.peer = kCallerAddress;
        listening.socket_id = calling.peer_socket_id = kListenerSocket;
        for (auto* const setup : {&calling, &listening})
            setup->began_at = setup->peer_received_at = now;
        ends[0].connection = std::make_unique<Connection>(now, std::move(calling));
        ends[1].connection = std::make_unique<Connection>(now, std::move(listening));
    }

    void run_until(TimePoint end) {
        while (now < end)
            step(end);
    }
    // One payload each `interval` from `end`, for `time`.
    void stream(std::size_t end, std::chrono::microseconds interval, std::chrono::microseconds time, std::size_t bytes = 188) {
        const TimePoint stop = now + time;
        for (TimePoint at = now; at < stop; at += interval) {
            run_until(at);
            if (ends[end].connection->send(now, numbered_payload(sent_numbers[end], bytes)) == Connection::Sent::queued)
                ++sent_numbers[end];
            drain();
        }
        run_until(stop);
    }

    TimePoint now{1h};
    SimulatedLink to_listener;
    SimulatedLink to_caller;
    Listener listener{Listener::Secret{1, 2, 3}};
    std::unique_ptr<Caller> caller;
    End ends[2];  // the caller's, the listener's
    std::uint64_t sent_numbers[2] = {0, 0};
    bool keeps_received = true;
    std::optional<RejectReason> refuses_with;
    std::optional<Error> accept_error;
    std::size_t requests = 0;

private:
    static LinkOptions with_other_seed(LinkOptions options) {
        ++options.seed;
        return options;
    }
    SimulatedLink& link_from(std::size_t end) { return end == 0 ? to_listener : to_caller; }

    void handle_request(const Request& request) {
        ++requests;
        if (ends[1].connection != nullptr)
            return ends[1].connection->repeat_response();
        std::optional<KeyEncryptingKey> kek;
        if (!passphrase_.empty() && request.key_request)
            kek = derive_key(passphrase_, request.key_request->salt, request.key_request->key_bytes).value();
        if (refuses_with)
            return to_caller.send(now, refuse(request, *refuses_with));
        auto connection = accept(now, request, kListenerSocket, listening_, kek);
        if (connection.ok())
            ends[1].connection = std::move(*connection);
        else {
            accept_error = connection.error();
            to_caller.send(now, refuse(request, RejectReason::bad_secret));
        }
    }
    void handle_at_listener(Bytes datagram) {
        if (destination_of(datagram) != SocketId{}) {
            if (ends[1].connection != nullptr)
                ends[1].connection->handle_datagram(now, datagram);
            return;
        }
        auto outcome = listener.handle_datagram(now, datagram, kCallerAddress);
        if (const auto* const answer = std::get_if<std::vector<std::uint8_t>>(&outcome))
            to_caller.send(now, *answer);
        else if (const auto* const request = std::get_if<Request>(&outcome))
            handle_request(*request);
    }
    void drain() {
        std::array<std::uint8_t, kDatagramBytesMax> buffer;
        if (ends[0].connection == nullptr && caller != nullptr)
            while (const std::size_t size = caller->write_next(now, buffer))
                to_listener.send(now, Bytes(buffer).first(size));
        for (std::size_t end = 0; end < 2; ++end) {
            if (ends[end].connection == nullptr)
                continue;
            while (const std::size_t size = ends[end].connection->write_next(now, buffer))
                link_from(end).send(now, Bytes(buffer).first(size));
            while (auto payload = ends[end].connection->next_payload(now))
                take(ends[end], *payload);
        }
    }
    void take(End& end, const Connection::Payload& payload) {
        const std::uint64_t number = number_of(payload.bytes);
        end.skipped += payload.skipped;
        if (number != end.next_number + payload.skipped ||
            payload.bytes.bytes()[payload.bytes.size() - 1] != static_cast<std::uint8_t>(number + payload.bytes.size() - 1))
            ++end.wrong;
        end.next_number = number + 1;
        ++end.received_count;
        if (keeps_received)
            end.received.push_back({number, now});
    }
    void step(TimePoint end) {
        drain();
        TimePoint next = std::min({end, to_listener.next(), to_caller.next()});
        if (ends[0].connection == nullptr && caller != nullptr)
            next = std::min(next, caller->next_timeout());
        for (const End& one : ends)
            if (one.connection != nullptr)
                next = std::min(next, one.connection->next_timeout(now));
        // A timer that is due but does nothing must not stop the clock.
        now = std::max(next, now + 10us);
        while (auto datagram = to_listener.arrived(now))
            handle_at_listener(*datagram);
        while (auto datagram = to_caller.arrived(now)) {
            if (ends[0].connection != nullptr)
                ends[0].connection->handle_datagram(now, *datagram);
            else if (caller != nullptr) {
                caller->handle_datagram(now, *datagram);
                ends[0].connection = caller->take_connection();
            }
        }
        if (ends[0].connection == nullptr && caller != nullptr)
            caller->handle_timeout(now);
        for (const End& one : ends)
            if (one.connection != nullptr)
                one.connection->handle_timeout(now);
        drain();
    }

    ConnectionOptions listening_;
    std::string passphrase_;
};

}  // namespace live::engine::srt
