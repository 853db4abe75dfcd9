#include "engine/srt/handshake/handshake_message.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "engine/srt/handshake/key_message.hpp"

namespace live::engine::srt {

namespace {

constexpr std::uint16_t kHasCapabilities = 1;
constexpr std::uint16_t kHasKey = 2;
constexpr std::uint16_t kHasConfiguration = 4;
constexpr std::size_t kCongestionBytesMax = 16;

// Text travels in words of four bytes, each in little-endian order, padded with zeros.
std::string text_of(Bytes words) {
    std::string text;
    text.reserve(words.size());
    for (std::size_t i = 0; i + 4 <= words.size(); i += 4)
        for (std::size_t k = 4; k-- > 0;)
            text.push_back(static_cast<char>(words[i + k]));
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    return text;
}

void write_text(ByteWriter& out, ExtensionType type, std::string_view text) {
    const std::size_t words = (text.size() + 3) / 4;
    out.u16be(static_cast<std::uint16_t>(type)).u16be(static_cast<std::uint16_t>(words));
    for (std::size_t i = 0; i < words * 4; i += 4)
        for (std::size_t k = 4; k-- > 0;)
            out.u8(i + k < text.size() ? static_cast<std::uint8_t>(text[i + k]) : std::uint8_t{0});
}

void write_extension(ByteWriter& out, ExtensionType type, Bytes contents) {
    out.u16be(static_cast<std::uint16_t>(type)).u16be(static_cast<std::uint16_t>(contents.size() / 4)).bytes(contents);
}

Error too_long() { return Error(Errc::malformed, "a handshake's extension is longer than it may be"); }

Result<void> take_extension(Handshake& handshake, ExtensionType type, Bytes contents) {
    switch (type) {
        case ExtensionType::handshake_request: handshake.request = TRY(parse_capabilities(contents)); break;
        case ExtensionType::handshake_response: handshake.response = TRY(parse_capabilities(contents)); break;
        case ExtensionType::key_request:
        case ExtensionType::key_response:
            if (contents.size() > kKeyMessageBytesMax)
                return too_long();
            (type == ExtensionType::key_request ? handshake.key_request : handshake.key_response)
                .assign(contents.begin(), contents.end());
            break;
        case ExtensionType::stream_id:
            if (contents.size() > kStreamIdBytesMax)
                return too_long();
            handshake.stream_id = text_of(contents);
            break;
        case ExtensionType::congestion:
            if (contents.size() > kCongestionBytesMax)
                return too_long();
            handshake.congestion = text_of(contents);
            break;
        case ExtensionType::filter: handshake.has_filter = true; break;
        case ExtensionType::group: handshake.has_group = true; break;
        default: break;
    }
    return {};
}

Result<void> read_extensions(ByteReader& in, Handshake& handshake) {
    while (!in.at_end()) {
        const ExtensionType type{TRY(in.u16be())};
        const std::size_t bytes = std::size_t{TRY(in.u16be())} * 4;
        TRY(take_extension(handshake, type, TRY(in.take(bytes))));
    }
    return {};
}

std::uint16_t extension_field_of(const Handshake& handshake) {
    unsigned field = 0;
    if (handshake.request || handshake.response)
        field |= kHasCapabilities;
    if (!handshake.key_request.empty() || !handshake.key_response.empty())
        field |= kHasKey;
    if (!handshake.stream_id.empty() || !handshake.congestion.empty())
        field |= kHasConfiguration;
    return static_cast<std::uint16_t>(field);
}

void write_extensions(ByteWriter& out, const Handshake& handshake) {
    if (handshake.request)
        write_extension(out, ExtensionType::handshake_request, write_capabilities(*handshake.request));
    if (handshake.response)
        write_extension(out, ExtensionType::handshake_response, write_capabilities(*handshake.response));
    if (!handshake.key_request.empty())
        write_extension(out, ExtensionType::key_request, handshake.key_request);
    if (!handshake.key_response.empty())
        write_extension(out, ExtensionType::key_response, handshake.key_response);
    if (!handshake.stream_id.empty())
        write_text(out, ExtensionType::stream_id, std::string_view(handshake.stream_id).substr(0, kStreamIdBytesMax));
    if (!handshake.congestion.empty())
        write_text(out, ExtensionType::congestion, handshake.congestion);
}

}  // namespace

std::string_view name_of(RejectReason reason) {
    switch (reason) {
        case RejectReason::unknown: return "unknown reason";
        case RejectReason::system: return "system error";
        case RejectReason::peer: return "rejected by the peer";
        case RejectReason::resource: return "out of resources";
        case RejectReason::rogue: return "incorrect handshake";
        case RejectReason::backlog: return "too many callers";
        case RejectReason::internal: return "internal error";
        case RejectReason::closing: return "the socket is closing";
        case RejectReason::version: return "the version is too old";
        case RejectReason::bad_secret: return "wrong passphrase";
        case RejectReason::unsecure: return "a passphrase is required or unexpected";
        case RejectReason::message_api: return "stream mode is not supported";
        case RejectReason::congestion: return "unsupported congestion control";
        case RejectReason::filter: return "unsupported packet filter";
        case RejectReason::group: return "unsupported group";
        case RejectReason::timeout: return "timeout";
        case RejectReason::crypto: return "unsupported cipher";
        case RejectReason::bad_request: return "bad request";
        case RejectReason::unauthorized: return "unauthorized";
        case RejectReason::overload: return "overloaded";
        case RejectReason::forbidden: return "forbidden";
        case RejectReason::not_found: return "not found";
        case RejectReason::bad_mode: return "bad mode";
        case RejectReason::unacceptable: return "unacceptable";
        case RejectReason::conflict: return "conflict";
        case RejectReason::unavailable: return "unavailable";
    }
    return "unknown reason";
}

Result<Capabilities> parse_capabilities(Bytes contents) {
    ByteReader in(contents);
    Capabilities capabilities;
    capabilities.version = TRY(in.u32be());
    capabilities.flags = TRY(in.u32be());
    capabilities.receiver_delay_ms = TRY(in.u16be());
    capabilities.sender_delay_ms = TRY(in.u16be());
    return capabilities;
}

std::array<std::uint8_t, kCapabilitiesBytes> write_capabilities(const Capabilities& capabilities) {
    ByteWriter out;
    out.u32be(capabilities.version).u32be(capabilities.flags);
    out.u16be(capabilities.receiver_delay_ms).u16be(capabilities.sender_delay_ms);
    std::array<std::uint8_t, kCapabilitiesBytes> bytes{};
    std::copy(out.written().begin(), out.written().end(), bytes.begin());
    return bytes;
}

Result<Handshake> parse_handshake(Bytes contents) {
    ByteReader in(contents);
    Handshake handshake;
    handshake.version = TRY(in.u32be());
    handshake.encryption = TRY(in.u16be());
    handshake.extension_field = TRY(in.u16be());
    handshake.initial_sequence = TRY(in.u32be()) & 0x7FFF'FFFF;
    handshake.mtu = TRY(in.u32be());
    handshake.flow_window = TRY(in.u32be());
    handshake.type = TRY(in.u32be());
    handshake.socket_id = SocketId{TRY(in.u32be())};
    handshake.cookie = TRY(in.u32be());
    for (std::uint32_t& word : handshake.peer_ip)
        word = TRY(in.u32be());
    // The field of an induction means something else, and version 4 has no extensions.
    if (handshake.version >= 5 && handshake.is(HandshakeType::conclusion) && handshake.extension_field != 0)
        TRY(read_extensions(in, handshake));
    return handshake;
}

std::vector<std::uint8_t> write_handshake(const Handshake& handshake) {
    ByteWriter out;
    const std::uint16_t field = extension_field_of(handshake);
    out.u32be(handshake.version).u16be(handshake.encryption).u16be(field != 0 ? field : handshake.extension_field);
    out.u32be(handshake.initial_sequence & 0x7FFF'FFFF).u32be(handshake.mtu).u32be(handshake.flow_window);
    out.u32be(handshake.type).u32be(static_cast<std::uint32_t>(handshake.socket_id)).u32be(handshake.cookie);
    for (const std::uint32_t word : handshake.peer_ip)
        out.u32be(word);
    write_extensions(out, handshake);
    return out.release();
}

std::vector<std::uint8_t> handshake_datagram(const Handshake& handshake, SocketId to, std::uint32_t timestamp) {
    return write_control({.type = ControlType::handshake, .timestamp = timestamp, .to = to}, write_handshake(handshake));
}

std::array<std::uint32_t, 4> peer_ip_of(const TransportAddress& address) {
    std::array<std::uint32_t, 4> words{};
    const auto word_at = [&address](std::size_t at) {
        std::uint32_t word = 0;
        for (std::size_t i = 4; i-- > 0;)
            word = word << 8 | address.ip.bytes[at + i];
        return word;
    };
    if (address.is_ipv4())
        words[0] = word_at(12);
    else
        for (std::size_t i = 0; i < 4; ++i)
            words[i] = word_at(4 * i);
    return words;
}

}  // namespace live::engine::srt
