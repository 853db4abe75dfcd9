// A listener and the connection it accepts, fed with arbitrary datagrams: each is preceded by a length byte, of which the high
// bit lets time pass, and is taken as it is, or, if it begins with a byte below 16, as the rest of a control or data packet that
// is addressed to the connection. The first byte of the input selects the options, version 4, and whether payloads are read on
// arrival. For every input, memory is bounded, datagrams have their size, and payloads come from packets, in order, and once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "engine/srt/caller.hpp"
#include "engine/srt/listener.hpp"

namespace {

using namespace live;
using namespace live::engine::srt;

constexpr SocketId kOurs{7};
constexpr SocketId kTheirs{9};
constexpr std::size_t kBufferBytes = 64 << 10;
// Both buffers, their slots, and memory that is not counted per packet.
constexpr std::size_t kHeldMax = 1 << 20;

Salt salt() { return Salt{1, 2, 3}; }
const KeyEncryptingKey& kek() {
    static const KeyEncryptingKey made = MUST(derive_key("correct horse battery", salt(), 16));
    return made;
}

struct Run {
    TimePoint now{1h};
    Listener listener{Listener::Secret{1}};
    TransportAddress from;
    std::unique_ptr<Connection> connection;
    std::uint64_t payload_bytes = 0;
    std::uint64_t input_bytes = 0;
    std::optional<std::uint64_t> delivered;  // the newest
    std::optional<std::uint64_t> read;       // likewise

    explicit Run(std::uint8_t what) {
        Request request;
        request.socket_id = kTheirs;
        request.initial_sequence = (what & 4) != 0 ? 0x7FFF'FFF0 : 5;
        request.capabilities.flags = 0xBF;
        request.handshake_version = (what & 1) != 0 ? 4 : 5;
        request.received_at = now;
        if ((what & 2) != 0)
            request.key_request = KeyMessage{.salt = salt(), .wrapped = MUST(wrap_keys(kek(), std::vector<std::uint8_t>(16, 3)))};
        ConnectionOptions options;
        options.send_buffer_bytes = options.receive_buffer_bytes = kBufferBytes;
        options.tsbpd = (what & 8) == 0;
        options.too_late_drop = (what & 16) == 0;
        options.key_refresh_packets = 8;
        options.key_announce_packets = 4;
        options.requires_encryption = (what & 32) != 0;
        connection = MUST(accept(now, request, kOurs, options, (what & 2) != 0 ? std::optional(kek()) : std::nullopt));
        connection->read_on_arrival((what & 64) != 0);
        drain();
    }

    void listen(Bytes datagram) {
        auto outcome = listener.handle_datagram(now, datagram, from);
        if (const auto* const answer = std::get_if<std::vector<std::uint8_t>>(&outcome))
            CHECK(answer->size() <= datagram.size());
        if (const auto* const request = std::get_if<Request>(&outcome)) {
            CHECK(request->stream_id.size() <= kStreamIdBytesMax);
            CHECK(refuse(*request, RejectReason::forbidden).size() <= datagram.size());
            const auto made = accept(now, *request, kOurs, {}, {});
            CHECK(!made.ok() || (*made)->is_open());
        }
    }
    void give(Bytes datagram) {
        listen(datagram);
        input_bytes += datagram.size();
        if (!datagram.empty() && datagram[0] < 16)
            return give_addressed(datagram[0], datagram.subspan(1));
        connection->handle_datagram(now, datagram);
        drain();
    }
    void give_addressed(std::uint8_t type, Bytes rest) {
        std::vector<std::uint8_t> packet(kHeaderBytes);
        const auto word = [&rest]() {
            const std::size_t count = std::min<std::size_t>(2, rest.size());
            std::uint32_t value = 0;
            for (std::size_t i = 0; i < count; ++i)
                value = value << 8 | rest[i];
            rest = rest.subspan(count);
            return value;
        };
        if (type < 9) {
            write_header(ControlHeader{.type = ControlType{type}, .information = word(), .timestamp = word() << 8, .to = kOurs},
                         packet);
        } else if (type < 12) {
            write_header(ControlHeader{.type = ControlType::user, .subtype = static_cast<std::uint16_t>(word() % 8), .to = kOurs},
                         packet);
        } else {
            const std::uint32_t sequence = word();
            write_header(DataHeader{.sequence = type == 15 ? 0x7FFF'FFF0 + sequence % 64 : sequence,
                                    .key = KeyFlag{static_cast<std::uint8_t>(type & 3)},
                                    .timestamp = word() << 8,
                                    .to = kOurs},
                         packet);
        }
        packet.insert(packet.end(), rest.begin(), rest.end());
        input_bytes += kHeaderBytes;
        connection->handle_datagram(now, packet);
        drain();
    }
    void drain() {
        if (connection->key_question())
            static_cast<void>(connection->answer_key((input_bytes & 1) != 0 ? std::optional(kek()) : std::nullopt).ok());
        while (const auto arrived = connection->next_arrived()) {
            CHECK(read.value_or(0) < arrived->position && delivered.value_or(0) < arrived->position);
            read = arrived->position;
            payload_bytes += arrived->bytes.size();
        }
        while (const auto payload = connection->next_payload(now)) {
            CHECK(delivered.value_or(0) < payload->position);
            delivered = payload->position;
            CHECK(payload->bytes.size() == (payload->was_read ? 0 : payload->size));
            CHECK(payload->was_read == (read.value_or(0) >= payload->position));
            payload_bytes += payload->bytes.size();
        }
        CHECK(payload_bytes <= input_bytes);
        std::vector<std::uint8_t> buffer(kDatagramBytesMax);
        std::size_t datagrams = 0;
        while (const std::size_t size = connection->write_next(now, buffer)) {
            CHECK(size >= kHeaderBytes && size <= kDatagramBytesMax);
            CHECK(destination_of(Bytes(buffer).first(size)) == kTheirs);
            CHECK(++datagrams < 10'000);
        }
        CHECK(connection->held_bytes() <= kHeldMax);
    }
    void pass(std::chrono::milliseconds time) {
        now += time;
        static_cast<void>(connection->send(now, Slice::allocate(100)));
        connection->handle_timeout(now);
        static_cast<void>(connection->next_timeout(now));
        drain();
        static_cast<void>(connection->figures());
    }
};

void call(Bytes input) {
    Caller caller(TimePoint{1h}, {.socket_id = kOurs, .encryption = Caller::Encryption{salt(), kek()}});
    std::vector<std::uint8_t> buffer(kDatagramBytesMax);
    for (int round = 0; round < 2; ++round) {
        static_cast<void>(caller.write_next(TimePoint{1h}, buffer));
        std::vector<std::uint8_t> packet(kHeaderBytes);
        write_header(ControlHeader{.type = ControlType::handshake, .to = kOurs}, packet);
        packet.insert(packet.end(), input.begin(), input.end());
        caller.handle_datagram(TimePoint{1h}, packet);
        if (input.size() > 48)
            input = input.subspan(48);
    }
    CHECK((caller.take_connection() != nullptr) == (caller.state() == Caller::State::connected));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    Run run(data[0]);
    Bytes rest(data + 1, size - 1);
    call(rest);
    while (!rest.empty()) {
        const std::size_t count = std::min<std::size_t>(rest[0] & 0x7F, rest.size() - 1);
        run.give(rest.subspan(1, count));
        if ((rest[0] & 0x80U) != 0)
            run.pass(std::chrono::milliseconds(count));
        rest = rest.subspan(1 + count);
    }
    run.pass(3s);
    run.pass(20s);
    CHECK(!run.connection->is_open());
    return 0;
}
