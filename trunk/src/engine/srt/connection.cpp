#include "engine/srt/connection.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "engine/srt/handshake/capability_requests.hpp"
#include "engine/srt/handshake/connection_setup.hpp"
#include "engine/srt/handshake/keys.hpp"
#include "engine/srt/transfer/delivery_clock.hpp"
#include "engine/srt/transfer/payload_memory.hpp"
#include "engine/srt/transfer/receive_side.hpp"
#include "engine/srt/transfer/round_trip.hpp"
#include "engine/srt/transfer/send_side.hpp"
#include "engine/srt/transfer/sequence.hpp"

namespace live::engine::srt {

namespace {

constexpr Micros kKeepaliveInterval = std::chrono::seconds(1);
constexpr std::size_t kAckAcksMax = 64;
// A receiver should wait for three or four round trips (draft-sharabayko-srt-01, 4.5). On a link that loses nothing, the first
// NAK may come one of them late.
constexpr int kSlackPart = 3;
constexpr std::uint32_t kIpAndUdpBytes = 28;
constexpr std::uint32_t kMessageNumbers = 0x3FF'FFFF;  // 1 to this

std::uint32_t message_number(std::uint64_t position, std::uint64_t first) {
    return static_cast<std::uint32_t>((position - first) % kMessageNumbers) + 1;
}

std::chrono::milliseconds larger(std::chrono::milliseconds ours, std::uint16_t theirs) {
    return std::max(ours, std::chrono::milliseconds(theirs));
}

std::size_t window_packets(const ConnectionOptions& options) {
    const std::size_t by_bytes = std::max<std::size_t>(options.receive_buffer_bytes / kPayloadBytesMax, 32);
    return std::min<std::size_t>(by_bytes, std::max<std::uint32_t>(options.flow_window, 32));
}

std::size_t payload_max(const Connection::Setup& setup) {
    const std::uint32_t mtu = std::min({setup.peer_mtu, setup.options.mtu, std::uint32_t{1'500}});
    const std::size_t by_mtu = mtu > kIpAndUdpBytes + kHeaderBytes ? mtu - kIpAndUdpBytes - kHeaderBytes : 1;
    return std::min(by_mtu, setup.options.payload_bytes_max);
}

}  // namespace

class Connection::State {
public:
    State(TimePoint now, Setup&& setup);

    const Setup& setup() const { return setup_; }
    CloseReason close_reason() const { return close_reason_; }
    Micros since(TimePoint at) const { return std::chrono::floor<Micros>(at - setup_.began_at); }
    TimePoint at(Micros time) const { return setup_.began_at + time; }

    void handle_datagram(Micros now, Bytes datagram);
    void handle_timeout(Micros now);
    Micros next_timeout(Micros now) const;
    Micros slack(Micros now) const;
    Sent send(Micros now, const Slice& payload);
    std::size_t write_next(Micros now, MutBytes into);
    std::optional<Payload> next_payload(Micros now) { return receive_.take(now, clock()); }
    void read_on_arrival(bool does) {
        CHECK(!arrivals_.fresh);
        arrivals_.are_read = does;
    }
    std::optional<ArrivedPayload> next_arrived();
    std::optional<KeyQuestion> key_question() const { return receive_keys_.question(); }
    Result<void> answer_key(const std::optional<KeyEncryptingKey>& kek);
    void repeat_response() { is_response_due_ = setup_.response.has_value(); }
    void close(CloseReason reason, bool says_goodbye);
    Figures figures() const;
    std::size_t held_bytes() const {
        return receive_.buffer().held_bytes() - receive_.buffer().bytes() + arrivals_.memory.held_bytes() + send_.held_bytes();
    }

private:
    // Received payloads, and how the owner reads those that are not due.
    struct Arrivals {
        PayloadMemory memory;
        bool are_read = false;
        std::optional<ArrivedPayload> fresh;           // of the newest datagram, in place
        std::optional<ReceiveBuffer::Unread> reading;  // keeps the bytes that next_arrived has returned
    };

    const DeliveryClock* clock() const { return is_tsbpd_ ? &clock_ : nullptr; }
    void handle_data(Micros now, const DataPacket& packet);
    bool is_plain(const DataPacket& packet) const { return packet.header.key == KeyFlag::none && !expects_keys(); }
    std::optional<Slice> opened(const DataPacket& packet);
    void handle_control(Micros now, const ControlPacket& packet);
    void handle_user(Micros now, const ControlPacket& packet);
    void handle_ack(Micros now, const ControlPacket& packet);
    void agree(const Capabilities& theirs);
    bool expects_keys() const { return setup_.options.requires_encryption || receive_keys_.has_keys(); }
    bool has_control(Micros now) const;
    std::optional<ControlOutput> next_control(Micros now);
    std::size_t write_control_to(Micros now, const ControlOutput& control, MutBytes into) const;
    std::size_t write_response(Micros now, MutBytes into);
    std::size_t write_data(Micros now, MutBytes into);
    // A version 4 peer sends its capabilities before it exchanges keys.
    bool may_announce() const { return send_keys_ && setup_.peer_capabilities; }

    Setup setup_;
    std::uint64_t send_first_;
    std::size_t payload_bytes_max_;
    RoundTrip round_trip_;
    DeliveryClock clock_;
    Arrivals arrivals_;
    ReceiveSide receive_;
    SendSide send_;
    std::optional<SendKeys> send_keys_;
    ReceiveKeys receive_keys_;
    bool is_tsbpd_;
    CloseReason close_reason_ = CloseReason::none;

    Micros heard_at_;
    Micros sent_at_;
    bool is_response_due_;
    bool is_goodbye_due_ = false;
    RingQueue<std::uint32_t> ack_acks_;
    std::vector<ControlOutput> answers_;  // to key and capability messages; the newest of each kind
    CapabilityRequests capability_requests_;

    Figures counts_;  // only the counters that this class updates
};

Connection::State::State(TimePoint now, Setup&& setup)
    : setup_(std::move(setup)),
      send_first_(first_position(setup_.send_initial_sequence)),
      payload_bytes_max_(payload_max(setup_)),
      clock_(since(setup_.peer_received_at), setup_.peer_timestamp, setup_.options.receive_latency),
      receive_(first_position(setup_.receive_initial_sequence), {.bytes = setup_.options.receive_buffer_bytes,
                                                                 .packets = window_packets(setup_.options),
                                                                 .too_late_drop = setup_.options.too_late_drop}),
      send_(send_first_, {.bytes = setup_.options.send_buffer_bytes,
                          .bandwidth = setup_.options.bandwidth_max,
                          .peer_window = setup_.peer_flow_window,
                          .too_late_drop = setup_.options.too_late_drop,
                          .latency = setup_.options.peer_latency}),
      is_tsbpd_(setup_.options.tsbpd),
      heard_at_(since(now)),
      sent_at_(since(now)),
      is_response_due_(setup_.response.has_value()) {
    if (setup_.peer_capabilities)
        agree(*setup_.peer_capabilities);
    if (!setup_.key)
        return;
    auto keys = SendKeys::create(*setup_.key, setup_.options.key_refresh_packets, setup_.options.key_announce_packets);
    // If the library has no ciphers, nothing is sent, and received packets cannot be decrypted.
    if (keys.ok() && (setup_.handshake_version == 5 || keys->announce_first().ok()))
        send_keys_ = std::move(*keys);
    static_cast<void>(receive_keys_.install(*setup_.key).ok());
    setup_.options.requires_encryption = true;
}

void Connection::State::agree(const Capabilities& theirs) {
    setup_.peer_capabilities = theirs;
    setup_.options.receive_latency = larger(setup_.options.receive_latency, theirs.sender_delay_ms);
    setup_.options.peer_latency = larger(setup_.options.peer_latency, theirs.receiver_delay_ms);
    clock_.set_latency(setup_.options.receive_latency);
    send_.set_latency(setup_.options.peer_latency);
    is_tsbpd_ = setup_.options.tsbpd && (theirs.flags & flag::kTsbpdSend) != 0;
    send_.set_too_late_drop(setup_.options.too_late_drop && (theirs.flags & flag::kTooLateDrop) != 0);
}

void Connection::State::handle_datagram(Micros now, Bytes datagram) {
    CHECK(!arrivals_.fresh);
    if (close_reason_ != CloseReason::none)
        return;
    const auto packet = parse_packet(datagram);
    if (!packet.ok()) {
        ++counts_.malformed;
        return;
    }
    if (const auto* const data = std::get_if<DataPacket>(&*packet)) {
        if (data->header.to != setup_.socket_id)
            return;
        heard_at_ = now;
        return handle_data(now, *data);
    }
    const auto& control = std::get<ControlPacket>(*packet);
    if (control.header.to != setup_.socket_id)
        return;
    heard_at_ = now;
    static_cast<void>(clock_.widen(control.header.timestamp));
    handle_control(now, control);
}

void Connection::State::handle_data(Micros now, const DataPacket& packet) {
    if (packet.payload.size() > kPayloadBytesMax || packet.header.key == KeyFlag::both) {
        ++counts_.malformed;
        return;
    }
    // The packet's key has not arrived, or is being unwrapped. The packet is dropped and requested again later, as if it were
    // lost.
    const bool is_key_coming = receive_keys_.question() || (expects_keys() && !receive_keys_.has_keys());
    if (packet.header.key != KeyFlag::none && !receive_keys_.has_key(packet.header.key) && is_key_coming)
        return;
    const std::uint64_t position = widen_sequence(packet.header.sequence, receive_.buffer().end());
    switch (receive_.place_of(position, packet.payload.size())) {
        case ReceiveBuffer::Place::duplicate:
        case ReceiveBuffer::Place::late: ++counts_.received_duplicates; return;
        case ReceiveBuffer::Place::no_space: return;
        case ReceiveBuffer::Place::wanted: break;
    }
    ++counts_.received;
    counts_.received_bytes += packet.payload.size();
    if (packet.header.is_retransmitted)
        ++counts_.received_retransmitted;
    const Micros timestamp = clock_.widen(packet.header.timestamp);
    if (arrivals_.are_read && is_plain(packet) && receive_.buffer().continues_read(position)) {
        receive_.insert_read(now, position, timestamp, packet.payload.size());
        arrivals_.fresh = ArrivedPayload{packet.payload, position};
        return;
    }
    receive_.insert(now, position, timestamp, opened(packet));
}

std::optional<ArrivedPayload> Connection::State::next_arrived() {
    if (!arrivals_.are_read)
        return std::nullopt;
    if (arrivals_.fresh)
        return std::exchange(arrivals_.fresh, std::nullopt);
    auto& reading = arrivals_.reading = receive_.read_next();
    return reading ? std::optional(ArrivedPayload{reading->bytes.bytes(), reading->position}) : std::nullopt;
}

std::optional<Slice> Connection::State::opened(const DataPacket& packet) {
    const KeyFlag key = packet.header.key;
    if (is_plain(packet)) {
        auto [slice, bytes] = arrivals_.memory.carve(packet.payload.size());
        copy_bytes(packet.payload, bytes);
        return std::move(slice);
    }
    if (key != KeyFlag::none && receive_keys_.has_key(key)) {
        auto [slice, bytes] = arrivals_.memory.carve(packet.payload.size());
        if (receive_keys_.decrypt(key, packet.header.sequence, packet.payload, bytes))
            return std::move(slice);
    }
    ++counts_.undecrypted;
    return std::nullopt;
}

void Connection::State::handle_ack(Micros now, const ControlPacket& packet) {
    const auto ack = parse_ack(packet.contents);
    if (!ack.ok() || !send_.handle_ack(now, *ack)) {
        ++counts_.malformed;
        return;
    }
    if (const auto delay = send_.take_ack_delay())
        round_trip_.add_bound(*delay - ReceiveSide::kAckInterval);
    if (!ack->path || packet.header.information == 0)
        return;
    round_trip_.add_reported(Micros(ack->path->rtt_us));
    if (ack_acks_.size() < kAckAcksMax)
        ack_acks_.push_back(packet.header.information);
}

void Connection::State::handle_control(Micros now, const ControlPacket& packet) {
    switch (packet.header.type) {
        case ControlType::ack: return handle_ack(now, packet);
        case ControlType::nak: {
            const auto ranges = parse_loss_list(packet.contents);
            if (!ranges.ok() || !send_.handle_nak(now, *ranges, round_trip_))
                ++counts_.malformed;
            return;
        }
        case ControlType::ack_ack:
            if (const auto sample = receive_.handle_ack_ack(now, packet.header.information)) {
                round_trip_.add(*sample);
                clock_.add_sample(now, packet.header.timestamp, *sample);
            }
            return;
        case ControlType::drop_request: {
            const auto range = parse_drop_request(packet.contents);
            const std::uint64_t end = receive_.buffer().end();
            if (range.ok())
                receive_.give_up(now, {widen_sequence(range->first, end), widen_sequence(range->second, end)});
            else
                ++counts_.malformed;
            return;
        }
        case ControlType::shutdown: return close(CloseReason::peer_shutdown, false);
        case ControlType::user: return handle_user(now, packet);
        // The caller repeats its request because it has not received our response.
        case ControlType::handshake: return repeat_response();
        case ControlType::keepalive:
        case ControlType::congestion_warning:
        case ControlType::peer_error: return;
    }
    ++counts_.malformed;
}

void Connection::State::handle_user(Micros now, const ControlPacket& packet) {
    const auto answer = [this](ExtensionType type, std::vector<std::uint8_t> contents) {
        const auto subtype = static_cast<std::uint16_t>(type);
        std::erase_if(answers_, [subtype](const ControlOutput& other) { return other.subtype == subtype; });
        answers_.push_back({ControlType::user, 0, std::move(contents), subtype});
    };
    switch (ExtensionType{packet.header.subtype}) {
        case ExtensionType::handshake_request:
        case ExtensionType::handshake_response: {
            auto theirs = parse_capabilities(packet.contents);
            if (!theirs.ok() || setup_.handshake_version != 4) {
                ++counts_.malformed;
                return;
            }
            // A version 4 message has one latency field: the receiver's.
            const bool is_receiver = ExtensionType{packet.header.subtype} == ExtensionType::handshake_response;
            if (is_receiver)
                theirs->receiver_delay_ms = std::exchange(theirs->sender_delay_ms, std::uint16_t{});
            if (!setup_.peer_capabilities) {
                agree(*theirs);
                clock_.restart(now, packet.header.timestamp);
            }
            capability_requests_.finish();
            if (!is_receiver) {
                const auto ours = write_capabilities(own_capabilities_4(setup_.options, setup_.options.receive_latency));
                answer(ExtensionType::handshake_response, {ours.begin(), ours.end()});
            }
            return;
        }
        case ExtensionType::key_request:
            if (packet.contents.size() > kKeyMessageBytesMax)
                ++counts_.malformed;
            else if (auto response = receive_keys_.handle_request(packet.contents))
                answer(ExtensionType::key_response, std::move(*response));
            return;
        case ExtensionType::key_response:
            if (send_keys_ && !send_keys_->handle_response(packet.contents))
                close(CloseReason::peer_rejected, true);
            return;
        default: return;
    }
}

Result<void> Connection::State::answer_key(const std::optional<KeyEncryptingKey>& kek) {
    if (!receive_keys_.question())
        return {};
    bool is_denied = false;
    answers_.push_back(
        {ControlType::user, 0, receive_keys_.answer(kek, is_denied), static_cast<std::uint16_t>(ExtensionType::key_response)});
    if (is_denied)
        return Error(Errc::denied, "the passphrase is another one");
    return {};
}

void Connection::State::handle_timeout(Micros now) {
    if (close_reason_ != CloseReason::none)
        return;
    if (now - heard_at_ >= setup_.options.peer_idle_timeout)
        return close(CloseReason::idle, true);
    // A peer that never sends its capabilities gets no key, and without a key nothing may be sent to it.
    if (send_keys_ && (send_keys_->is_ignored(now) || capability_requests_.are_unanswered(now)))
        return close(CloseReason::peer_rejected, true);
    receive_.handle_timeout(now, round_trip_);
    send_.handle_timeout(now, round_trip_);
}

Micros Connection::State::next_timeout(Micros now) const {
    const Micros due = receive_.buffer().next_due(clock()).value_or(Micros::max());
    if (close_reason_ != CloseReason::none)
        return is_goodbye_due_ ? now : due;
    if (has_control(now))
        return now;
    Micros next = std::min({due, heard_at_ + Micros(setup_.options.peer_idle_timeout), sent_at_ + kKeepaliveInterval,
                            receive_.next_timeout(), send_.next_timeout(round_trip_), send_.next_send()});
    if (may_announce())
        next = std::min(next, send_keys_->next_announcement());
    if (send_keys_ || !capability_requests_.are_all_sent())
        next = std::min(next, capability_requests_.next_timeout());
    return next;
}

Micros Connection::State::slack(Micros now) const {
    const bool can_wait = close_reason_ == CloseReason::none && is_tsbpd_ && !receive_.has_lost(now);
    return can_wait ? Micros(setup_.options.receive_latency) / kSlackPart : Micros();
}

Connection::Sent Connection::State::send(Micros now, const Slice& payload) {
    if (close_reason_ != CloseReason::none)
        return Sent::closed;
    if (payload.size() > payload_bytes_max_)
        return Sent::too_long;
    if (!setup_.peer_capabilities)
        capability_requests_.start();
    KeyFlag key = KeyFlag::none;
    if (setup_.options.requires_encryption) {
        if (send_keys_ && send_keys_->awaits_first())
            return Sent::no_key;
        key = send_keys_ ? send_keys_->next_flag() : KeyFlag::none;
        if (key == KeyFlag::none) {
            if (send_keys_)
                close(CloseReason::peer_rejected, true);
            return Sent::no_key;
        }
    }
    return send_.push(now, payload, key) ? Sent::queued : Sent::full;
}

bool Connection::State::has_control(Micros now) const {
    return is_response_due_ || is_goodbye_due_ || !ack_acks_.empty() || receive_.has_output() || send_.has_output() ||
           !answers_.empty() || now - sent_at_ >= kKeepaliveInterval;
}

std::optional<ControlOutput> Connection::State::next_control(Micros now) {
    if (!ack_acks_.empty()) {
        const std::uint32_t number = ack_acks_.front();
        ack_acks_.pop_front();
        return ControlOutput{ControlType::ack_ack, number, {}};
    }
    if (receive_.has_output())
        return receive_.next_output(now, round_trip_);
    if (!answers_.empty()) {
        ControlOutput answer = std::move(answers_.back());
        answers_.pop_back();
        return answer;
    }
    if (capability_requests_.is_due(now)) {
        capability_requests_.note_sent(now);
        const auto ours = write_capabilities(own_capabilities_4(setup_.options, setup_.options.peer_latency));
        return ControlOutput{
            ControlType::user, 0, {ours.begin(), ours.end()}, static_cast<std::uint16_t>(ExtensionType::handshake_request)};
    }
    if (may_announce())
        if (auto message = send_keys_->announcement(now, round_trip_))
            return ControlOutput{ControlType::user, 0, std::move(*message),
                                 static_cast<std::uint16_t>(ExtensionType::key_request)};
    if (send_.has_output())
        return send_.next_output();
    if (now - sent_at_ >= kKeepaliveInterval && send_.next_send() > now)
        return ControlOutput{ControlType::keepalive, 0, {}};
    return std::nullopt;
}

std::size_t Connection::State::write_next(Micros now, MutBytes into) {
    if (into.size() < kDatagramBytesMax)
        return 0;
    std::size_t size = 0;
    if (is_goodbye_due_) {
        is_goodbye_due_ = false;
        return write_control_to(now, {ControlType::shutdown, 0, {}}, into);
    }
    if (close_reason_ != CloseReason::none)
        return 0;
    if (is_response_due_)
        size = write_response(now, into);
    else if (const auto control = next_control(now))
        size = write_control_to(now, *control, into);
    else
        size = write_data(now, into);
    if (size > 0)
        sent_at_ = now;
    return size;
}

std::size_t Connection::State::write_response(Micros now, MutBytes into) {
    is_response_due_ = false;
    const auto datagram = handshake_datagram(*setup_.response, setup_.peer_socket_id, static_cast<std::uint32_t>(now.count()));
    std::copy(datagram.begin(), datagram.end(), into.begin());
    return datagram.size();
}

std::size_t Connection::State::write_control_to(Micros now, const ControlOutput& control, MutBytes into) const {
    return write_control(ControlHeader{.type = control.type,
                                       .subtype = control.subtype,
                                       .information = control.information,
                                       .timestamp = static_cast<std::uint32_t>(now.count()),
                                       .to = setup_.peer_socket_id},
                         control.contents, into);
}

std::size_t Connection::State::write_data(Micros now, MutBytes into) {
    const auto out = send_.next(now);
    if (!out)
        return 0;
    const std::uint32_t sequence = narrow_sequence(out->position);
    write_header(DataHeader{.sequence = sequence,
                            .key = out->key,
                            .is_retransmitted = out->is_retransmitted,
                            .message = message_number(out->position, send_first_),
                            .timestamp = static_cast<std::uint32_t>(out->origin.count()),
                            .to = setup_.peer_socket_id},
                 into);
    const Bytes payload = out->payload->bytes();
    const MutBytes body = into.subspan(kHeaderBytes);
    if (out->key == KeyFlag::none)
        std::copy(payload.begin(), payload.end(), body.begin());
    else if (!send_keys_->encrypt(out->key, sequence, payload, body))
        return 0;
    return kHeaderBytes + payload.size();
}

void Connection::State::close(CloseReason reason, bool says_goodbye) {
    if (close_reason_ != CloseReason::none)
        return;
    close_reason_ = reason;
    is_goodbye_due_ = says_goodbye;
}

Figures Connection::State::figures() const {
    Figures all = counts_;
    all.rtt = round_trip_.estimate();
    all.rtt_variance = round_trip_.variance();
    all.receive_latency = setup_.options.receive_latency;
    all.send_latency = setup_.options.peer_latency;
    all.drift = clock_.drift();
    all.peer_version = setup_.peer_capabilities ? setup_.peer_capabilities->version : 0;
    all.handshake_version = setup_.handshake_version;
    all.key_bytes = send_keys_ ? send_keys_->key_bytes() : receive_keys_.key_bytes();
    const SendSide::Counts& sent = send_.counts();
    all.sent = sent.sent;
    all.sent_bytes = sent.sent_bytes;
    all.retransmitted = sent.retransmitted;
    all.retransmitted_bytes = sent.retransmitted_bytes;
    all.send_lost = sent.lost;
    all.acknowledged = sent.acknowledged;
    all.is_owed_ack = send_.is_owed_ack();
    all.send_dropped = sent.dropped;
    all.send_buffer_packets = send_.packets();
    all.send_buffer_bytes = send_.bytes();
    all.key_refreshes = send_keys_ ? send_keys_->refreshes() : 0;
    all.receive_lost = receive_.lost();
    all.receive_dropped = receive_.buffer().dropped();
    all.receive_buffer_packets = receive_.buffer().packets();
    all.receive_buffer_bytes = receive_.buffer().bytes();
    return all;
}

Connection::Connection(TimePoint now, Setup setup) : state_(std::make_unique<State>(now, std::move(setup))) {}
Connection::~Connection() = default;

SocketId Connection::socket_id() const { return state_->setup().socket_id; }
SocketId Connection::peer_socket_id() const { return state_->setup().peer_socket_id; }
const TransportAddress& Connection::peer() const { return state_->setup().peer; }

void Connection::handle_datagram(TimePoint now, Bytes datagram) { state_->handle_datagram(state_->since(now), datagram); }
void Connection::handle_timeout(TimePoint now) { state_->handle_timeout(state_->since(now)); }

TimePoint Connection::next_timeout(TimePoint now) const {
    const Micros next = state_->next_timeout(state_->since(now));
    if (next == Micros::max())
        return TimePoint::max();
    return next == Micros::min() ? now : state_->at(next);
}

Duration Connection::slack(TimePoint now) const { return state_->slack(state_->since(now)); }
Connection::Sent Connection::send(TimePoint now, const Slice& payload) { return state_->send(state_->since(now), payload); }
std::size_t Connection::write_next(TimePoint now, MutBytes into) { return state_->write_next(state_->since(now), into); }
std::optional<Connection::Payload> Connection::next_payload(TimePoint now) { return state_->next_payload(state_->since(now)); }
void Connection::read_on_arrival(bool does) { state_->read_on_arrival(does); }
std::optional<ArrivedPayload> Connection::next_arrived() { return state_->next_arrived(); }
std::optional<Connection::KeyQuestion> Connection::key_question() const { return state_->key_question(); }
Result<void> Connection::answer_key(const std::optional<KeyEncryptingKey>& kek) { return state_->answer_key(kek); }
void Connection::repeat_response() { state_->repeat_response(); }
void Connection::close() { state_->close(CloseReason::closed, true); }
CloseReason Connection::close_reason() const { return state_->close_reason(); }
Figures Connection::figures() const { return state_->figures(); }
std::size_t Connection::held_bytes() const { return sizeof(State) + state_->held_bytes(); }

}  // namespace live::engine::srt
