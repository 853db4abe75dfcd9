#include "engine/workers/message.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"

namespace live::engine::workers {

namespace {

// Returns the largest valid `flag`.
std::uint8_t most_of(Kind kind) {
    switch (kind) {
        case Kind::claim:
        case Kind::tally:
        case Kind::begin:
        case Kind::upgraded:
        case Kind::launched: return 1;
        case Kind::claimed: return static_cast<std::uint8_t>(Verdict::too_many);
        case Kind::link: return static_cast<std::uint8_t>(Purpose::datagrams);
        default: return 0;
    }
}

bool names_stream(Kind kind) {
    return kind == Kind::claim || kind == Kind::announce || kind == Kind::withdraw || kind == Kind::find || kind == Kind::moved ||
           kind == Kind::lost;
}

}  // namespace

std::vector<std::uint8_t> write_message(const Message& message) {
    ByteWriter out;
    out.reserve(kHeadBytes + message.text.size());
    out.u8(static_cast<std::uint8_t>(message.kind)).u8(message.flag).u8(message.worker).u8(0);
    out.u32be(message.ticket).u64be(message.epoch);
    out.text(std::string_view(message.text).substr(0, kTextMax));
    return out.release();
}

Result<Message> parse_message(Bytes packet) {
    const Error malformed(Errc::malformed, "a message between workers makes no sense");
    if (packet.size() < kHeadBytes || packet.size() > kMessageMax)
        return Error(malformed);
    ByteReader in(packet);
    const std::uint8_t kind = MUST(in.u8());
    if (kind < static_cast<std::uint8_t>(Kind::ready) || kind > static_cast<std::uint8_t>(Kind::quit))
        return Error(malformed);
    Message message;
    message.kind = static_cast<Kind>(kind);
    message.flag = MUST(in.u8());
    message.worker = MUST(in.u8());
    const std::uint8_t zero = MUST(in.u8());
    message.ticket = MUST(in.u32be());
    message.epoch = MUST(in.u64be());
    message.text = as_text(in.rest());
    if (zero != 0 || message.worker > kMembersMax || message.flag > most_of(message.kind))
        return Error(malformed);
    const bool needs_text = names_stream(message.kind) || message.kind == Kind::gift;
    if (needs_text && message.text.empty())
        return Error(malformed);
    return message;
}

}  // namespace live::engine::workers
