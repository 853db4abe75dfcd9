#include "engine/srt/caller.hpp"

#include <algorithm>

#include "base/bytes/random.hpp"
#include "engine/srt/handshake/connection_setup.hpp"

namespace live::engine::srt {

namespace {

// An induction's extension field: a socket for datagrams.
constexpr std::uint16_t kInductionSocket = 2;
constexpr std::uint32_t kRejectedMin = 1'000;

std::uint32_t timestamp_of(TimePoint now, TimePoint began_at) {
    return static_cast<std::uint32_t>(std::chrono::floor<std::chrono::microseconds>(now - began_at).count());
}

std::string_view text_of(KeyState state) {
    switch (state) {
        case KeyState::bad_secret: return "the peer has another passphrase";
        case KeyState::no_secret: return "the peer has no passphrase";
        case KeyState::bad_mode: return "the peer does not support AES-CTR";
        default: return "the peer does not encrypt";
    }
}

}  // namespace

Caller::Caller(TimePoint now, Options options)
    : options_(std::move(options)),
      began_at_(now),
      repeat_at_(now),
      initial_sequence_(static_cast<std::uint32_t>(random_number()) & 0x7FFF'FFFF) {
    CHECK(options_.socket_id != SocketId{});
    message_.version = 4;
    message_.extension_field = kInductionSocket;
    message_.initial_sequence = initial_sequence_;
    message_.mtu = options_.connection.mtu;
    message_.flow_window = options_.connection.flow_window;
    message_.type = static_cast<std::uint32_t>(HandshakeType::induction);
    message_.socket_id = options_.socket_id;
    message_.peer_ip = peer_ip_of(options_.to);
}

Caller::~Caller() = default;

void Caller::fail(std::string why) {
    state_ = State::failed;
    failure_ = std::move(why);
}

void Caller::handle_datagram(TimePoint now, Bytes datagram) {
    if (state_ != State::calling || !is_handshake(datagram))
        return;
    const auto packet = parse_packet(datagram);
    if (!packet.ok())
        return;
    const auto& control = std::get<ControlPacket>(*packet);
    const auto handshake = parse_handshake(control.contents);
    if (control.header.to != options_.socket_id || !handshake.ok())
        return;
    if (handshake->is(HandshakeType::induction) && !is_concluding_)
        return handle_induction(now, *handshake);
    if (!is_concluding_)
        return;
    if (handshake->is(HandshakeType::conclusion))
        return handle_conclusion(now, *handshake, control.header.timestamp);
    if (handshake->type >= kRejectedMin && handshake->type < static_cast<std::uint32_t>(HandshakeType::done)) {
        state_ = State::refused;
        // See refuse().
        reason_ = RejectReason{handshake->type >= 2'000 ? handshake->type - 1'000 : handshake->type};
    }
}

void Caller::handle_induction(TimePoint now, const Handshake& handshake) {
    if (handshake.version < 5 || handshake.extension_field != kInductionMagic)
        return fail("the peer does not speak SRT with version 5 handshakes");
    message_.version = 5;
    message_.extension_field = 0;
    message_.type = static_cast<std::uint32_t>(HandshakeType::conclusion);
    message_.cookie = handshake.cookie;
    message_.request = own_capabilities(options_.connection);
    message_.stream_id = options_.stream_id.substr(0, kStreamIdBytesMax);
    if (options_.encryption) {
        const auto& [salt, kek] = *options_.encryption;
        key_.resize(kek.size);
        fill_random(key_);
        auto wrapped = wrap_keys(kek, key_);
        if (!wrapped.ok())
            return fail(wrapped.error().text());
        message_.encryption = static_cast<std::uint16_t>(kek.size / 8);
        message_.key_request =
            write_key_message({.keys = KeyFlag::even, .key_bytes = kek.size, .salt = salt, .wrapped = std::move(*wrapped)});
    }
    is_concluding_ = true;
    repeat_at_ = now;
}

void Caller::handle_conclusion(TimePoint now, const Handshake& handshake, std::uint32_t timestamp) {
    if (handshake.version != 5 || !handshake.response || handshake.socket_id == SocketId{})
        return fail("the peer's response is incomplete");
    Connection::Setup setup;
    if (options_.encryption) {
        if (const auto state = parse_key_state(handshake.key_response))
            return fail(std::string(text_of(*state)));
        if (handshake.key_response != message_.key_request)
            return fail("the peer does not confirm the key");
        setup.key = StreamKey{
            .flag = KeyFlag::even, .salt = options_.encryption->salt, .kek = options_.encryption->kek, .key = std::move(key_)};
    }
    setup.peer = options_.to;
    setup.socket_id = options_.socket_id;
    setup.peer_socket_id = handshake.socket_id;
    setup.send_initial_sequence = initial_sequence_;
    setup.receive_initial_sequence = handshake.initial_sequence;
    setup.peer_mtu = handshake.mtu;
    setup.peer_flow_window = handshake.flow_window;
    setup.peer_capabilities = handshake.response;
    setup.peer_received_at = now;
    setup.peer_timestamp = timestamp;
    setup.began_at = began_at_;
    setup.options = options_.connection;
    connection_ = std::make_unique<Connection>(now, std::move(setup));
    state_ = State::connected;
}

void Caller::handle_timeout(TimePoint now) {
    if (state_ == State::calling && now - began_at_ >= options_.connect_timeout)
        state_ = State::timed_out;
}

TimePoint Caller::next_timeout() const {
    if (state_ != State::calling)
        return TimePoint::max();
    return std::min(repeat_at_, began_at_ + options_.connect_timeout);
}

std::size_t Caller::write_next(TimePoint now, MutBytes into) {
    if (state_ != State::calling || now < repeat_at_ || into.size() < kDatagramBytesMax)
        return 0;
    repeat_at_ = now + kRepeat;
    const auto datagram = handshake_datagram(message_, SocketId{}, timestamp_of(now, began_at_));
    std::copy(datagram.begin(), datagram.end(), into.begin());
    return datagram.size();
}

}  // namespace live::engine::srt
