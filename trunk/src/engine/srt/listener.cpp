#include "engine/srt/listener.hpp"

#include <algorithm>

#include "base/bytes/random.hpp"
#include "engine/crypto/siphash.hpp"
#include "engine/srt/handshake/connection_setup.hpp"
#include "engine/srt/handshake/keys.hpp"

namespace live::engine::srt {

namespace {

constexpr std::size_t kInductionBytes = kHeaderBytes + kHandshakeBytes;
constexpr std::uint32_t kMtuMin = 100;
constexpr std::uint32_t kFlowWindowMin = 2;
// Version 4: the kind of socket, datagrams.
constexpr std::uint16_t kDatagramSocket = 2;
// Where an induction differs from its answer.
constexpr std::size_t kVersionAt = kHeaderBytes;
constexpr std::size_t kTypeAt = kHeaderBytes + 20;
constexpr std::size_t kSocketIdAt = kHeaderBytes + 24;
constexpr std::size_t kCookieAt = kHeaderBytes + 28;
constexpr std::size_t kDestinationAt = 12;

void put(MutBytes into, std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
        into[at + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

std::uint32_t get(Bytes from, std::size_t at) {
    return static_cast<std::uint32_t>(from[at]) << 24 | static_cast<std::uint32_t>(from[at + 1]) << 16 |
           static_cast<std::uint32_t>(from[at + 2]) << 8 | from[at + 3];
}

std::int64_t minute_of(TimePoint now) { return std::chrono::floor<std::chrono::minutes>(now.time_since_epoch()).count(); }

Handshake answer_to(const Request& request, std::uint32_t type) {
    Handshake answer;
    answer.version = request.handshake_version;
    answer.type = type;
    answer.mtu = request.mtu;
    answer.flow_window = request.flow_window;
    answer.initial_sequence = request.initial_sequence;
    answer.cookie = request.cookie;
    answer.peer_ip = peer_ip_of(request.from);
    return answer;
}

// Returns a reason for a refusal that only this end can detect.
std::optional<RejectReason> objection_to(const Handshake& handshake) {
    if (handshake.version > 5 || handshake.version < 4)
        return RejectReason::version;
    if (handshake.mtu < kMtuMin || handshake.flow_window < kFlowWindowMin || handshake.socket_id == SocketId{})
        return RejectReason::rogue;
    if (handshake.version == 4)
        return std::nullopt;
    if (!handshake.request)
        return RejectReason::rogue;
    if ((handshake.request->flags & flag::kStream) != 0)
        return RejectReason::message_api;
    if (!handshake.congestion.empty() && handshake.congestion != "live")
        return RejectReason::congestion;
    if (handshake.has_filter)
        return RejectReason::filter;
    if (handshake.has_group)
        return RejectReason::group;
    return std::nullopt;
}

StreamKey new_key(const KeyEncryptingKey& kek, const Salt& salt) {
    StreamKey made{.flag = KeyFlag::even, .salt = salt, .kek = kek, .key = std::vector<std::uint8_t>(kek.size)};
    fill_random(made.key);
    return made;
}

Result<std::optional<StreamKey>> agreed_key(const Request& request, const std::optional<KeyEncryptingKey>& kek,
                                            const Salt& salt) {
    if (request.handshake_version == 4)
        return kek ? std::optional(new_key(*kek, salt)) : std::nullopt;
    if (request.key_request.has_value() != kek.has_value())
        return Error(Errc::denied, kek ? "a passphrase is required" : "no passphrase is expected");
    if (!kek)
        return std::optional<StreamKey>{};
    const OpenedKeys opened = TRY(open_key_message(*request.key_request, *kek));
    StreamKey key{.flag = KeyFlag::even, .salt = request.key_request->salt, .kek = *kek, .key = opened.even};
    if (key.key.empty()) {
        key.flag = KeyFlag::odd;
        key.key = opened.odd;
    }
    return std::optional(std::move(key));
}

}  // namespace

Listener::Secret Listener::random_secret() {
    Secret secret;
    fill_random(secret);
    return secret;
}

std::uint32_t Listener::cookie_of(const TransportAddress& from, std::int64_t minute) const {
    std::array<std::uint8_t, 26> input{};
    std::copy(from.ip.bytes.begin(), from.ip.bytes.end(), input.begin());
    input[16] = static_cast<std::uint8_t>(from.port >> 8);
    input[17] = static_cast<std::uint8_t>(from.port);
    for (std::size_t i = 0; i < 8; ++i)
        input[18 + i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(minute) >> (8 * i));
    return static_cast<std::uint32_t>(crypto::SipHash(secret_).of(input));
}

bool Listener::is_cookie(TimePoint now, const TransportAddress& from, std::uint32_t cookie) const {
    const std::int64_t minute = minute_of(now);
    return cookie == cookie_of(from, minute) || cookie == cookie_of(from, minute - 1);
}

std::size_t Listener::answer_induction(TimePoint now, Bytes datagram, const TransportAddress& from, MutBytes into) const {
    if (datagram.size() < kInductionBytes || into.size() < kInductionBytes || !is_handshake(datagram) ||
        get(datagram, kTypeAt) != static_cast<std::uint32_t>(HandshakeType::induction))
        return 0;
    // The answer is the induction with a cookie, to the caller's socket. It names no socket of ours: none exists yet.
    std::copy_n(datagram.begin(), kInductionBytes, into.begin());
    put(into, kDestinationAt, get(datagram, kSocketIdAt));
    put(into, kVersionAt, 5);
    put(into, kVersionAt + 4, static_cast<std::uint32_t>(key_bytes_ / 8) << 16 | kInductionMagic);
    put(into, kCookieAt, cookie_of(from, minute_of(now)));
    return kInductionBytes;
}

Listener::Outcome Listener::handle_datagram(TimePoint now, Bytes datagram, const TransportAddress& from) const {
    if (!is_handshake(datagram) || datagram.size() < kInductionBytes)
        return std::monostate{};
    std::array<std::uint8_t, kInductionBytes> answer;
    if (answer_induction(now, datagram, from, answer) > 0)
        return std::vector<std::uint8_t>(answer.begin(), answer.end());
    const std::uint32_t cookie = get(datagram, kCookieAt);
    // Without a valid cookie the rest is neither read nor answered.
    if (get(datagram, kTypeAt) != static_cast<std::uint32_t>(HandshakeType::conclusion) || !is_cookie(now, from, cookie))
        return std::monostate{};
    Request request;
    request.from = from;
    request.socket_id = SocketId{get(datagram, kSocketIdAt)};
    request.cookie = cookie;
    request.timestamp = get(datagram, 8);
    request.received_at = now;
    request.handshake_version = get(datagram, kVersionAt) == 4 ? 4 : 5;
    const auto handshake = parse_handshake(datagram.subspan(kHeaderBytes));
    if (!handshake.ok())
        return refuse(request, RejectReason::rogue);
    request.initial_sequence = handshake->initial_sequence;
    request.mtu = handshake->mtu;
    request.flow_window = handshake->flow_window;
    if (const auto objection = objection_to(*handshake))
        return refuse(request, *objection);
    request.capabilities = handshake->request.value_or(Capabilities{.version = 0});
    request.stream_id = handshake->stream_id;
    if (handshake->version == 5 && !handshake->key_request.empty()) {
        auto message = parse_key_message(handshake->key_request);
        if (!message.ok())
            return refuse(request, message.code() == Errc::unsupported ? RejectReason::crypto : RejectReason::rogue);
        request.key_request = std::move(*message);
    }
    return request;
}

Result<std::unique_ptr<Connection>> accept(TimePoint now, const Request& request, SocketId socket_id,
                                           const ConnectionOptions& options, const std::optional<KeyEncryptingKey>& kek,
                                           const Salt& salt) {
    CHECK(socket_id != SocketId{});
    Connection::Setup setup;
    setup.key = TRY(agreed_key(request, kek, salt));
    setup.peer = request.from;
    setup.socket_id = socket_id;
    setup.peer_socket_id = request.socket_id;
    setup.handshake_version = request.handshake_version;
    // Both directions begin with the caller's number: libsrt expects that, whatever number the response has.
    setup.send_initial_sequence = request.initial_sequence;
    setup.receive_initial_sequence = request.initial_sequence;
    setup.peer_mtu = request.mtu;
    setup.peer_flow_window = request.flow_window;
    setup.peer_received_at = request.received_at;
    setup.peer_timestamp = request.timestamp;
    setup.began_at = now;
    setup.options = options;

    Handshake response = answer_to(request, static_cast<std::uint32_t>(HandshakeType::conclusion));
    response.socket_id = socket_id;
    response.initial_sequence = setup.send_initial_sequence;
    response.mtu = std::min(request.mtu, options.mtu);
    response.flow_window = options.flow_window;
    if (request.handshake_version == 4) {
        response.extension_field = kDatagramSocket;
    } else {
        setup.peer_capabilities = request.capabilities;
        // Both ends agree on the larger latencies and announce the same values.
        Capabilities ours = own_capabilities(options);
        ours.receiver_delay_ms = std::max(ours.receiver_delay_ms, request.capabilities.sender_delay_ms);
        ours.sender_delay_ms = std::max(ours.sender_delay_ms, request.capabilities.receiver_delay_ms);
        response.response = ours;
    }
    if (request.key_request) {
        response.encryption = static_cast<std::uint16_t>(request.key_request->key_bytes / 8);
        response.key_response = write_key_message(*request.key_request);
    }
    setup.response = std::move(response);
    return std::make_unique<Connection>(now, std::move(setup));
}

// libsrt adds 1000 to every reason, also to those that are an HTTP status + 1000: 403 travels as 2403.
std::vector<std::uint8_t> refuse(const Request& request, RejectReason reason) {
    const auto value = static_cast<std::uint32_t>(reason);
    const std::uint32_t type = value >= static_cast<std::uint32_t>(RejectReason::bad_request) ? value + 1'000 : value;
    return handshake_datagram(answer_to(request, type), request.socket_id, request.timestamp);
}

RejectReason reject_reason_of_status(unsigned http_status) {
    switch (http_status) {
        case 400: return RejectReason::bad_request;
        case 401: return RejectReason::unauthorized;
        case 402: return RejectReason::overload;
        case 403: return RejectReason::forbidden;
        case 404: return RejectReason::not_found;
        case 405: return RejectReason::bad_mode;
        case 406: return RejectReason::unacceptable;
        case 409: return RejectReason::conflict;
        case 429: return RejectReason::overload;
        case 503: return RejectReason::unavailable;
        default: return RejectReason::peer;
    }
}

}  // namespace live::engine::srt
