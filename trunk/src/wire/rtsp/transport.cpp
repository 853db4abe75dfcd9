#include "wire/rtsp/transport.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"
#include "wire/rtsp/text.hpp"

namespace live::wire::rtsp {

namespace {

// Up to `letter`, outside of quotes; removes both from `rest`.
std::string_view take_part(std::string_view& rest, char letter) {
    bool is_quoted = false;
    std::size_t end = 0;
    for (; end < rest.size() && (is_quoted || rest[end] != letter); ++end)
        is_quoted = is_quoted != (rest[end] == '"');
    const std::string_view part = ascii::trimmed(rest.substr(0, end), kBlanks);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

// "6970-6971"; some clients send the first only.
std::optional<NumberPair> pair_of(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = number_of<std::uint16_t>(text.substr(0, dash));
    if (!first)
        return std::nullopt;
    if (dash == std::string_view::npos)
        return NumberPair{*first, static_cast<std::uint16_t>(*first + 1)};
    const auto second = number_of<std::uint16_t>(text.substr(dash + 1));
    return second ? std::optional(NumberPair{*first, *second}) : std::nullopt;
}

bool read_protocol(std::string_view text, Transport& transport) {
    const std::string name = ascii::lowered(text);
    std::string_view rest = name;
    if (take_part(rest, '/') != "rtp")
        return false;
    const std::string_view profile = take_part(rest, '/');
    transport.is_secure = profile == "savp" || profile == "savpf";
    if (!transport.is_secure && profile != "avp" && profile != "avpf")
        return false;
    transport.lower = rest == "tcp" ? Transport::Lower::tcp : Transport::Lower::udp;
    return rest.empty() || rest == "tcp" || rest == "udp";
}

void read_parameter(std::string_view text, Transport& transport) {
    const std::size_t equals = text.find('=');
    const std::string name = ascii::lowered(ascii::trimmed(text.substr(0, equals), kBlanks));
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : ascii::trimmed(text.substr(equals + 1), " \t\"");
    if (name == "multicast")
        transport.is_multicast = true;
    else if (name == "interleaved")
        transport.interleaved = pair_of(value);
    else if (name == "client_port")
        transport.client_port = pair_of(value);
    else if (name == "server_port")
        transport.server_port = pair_of(value);
    else if (name == "ssrc")
        transport.ssrc = number_of<std::uint32_t>(value, 16);
    else if (name == "mode")
        // Live555 and others of its time write "receive".
        transport.mode = ascii::are_same(value, "record") || ascii::are_same(value, "receive") ? Transport::Mode::record
                                                                                               : Transport::Mode::play;
    else if (name == "source")
        transport.source = value;
    else if (name == "destination")
        transport.destination = value;
}

void append_pair(std::string& text, std::string_view name, const std::optional<NumberPair>& pair) {
    if (pair)
        text.append(name).append(std::to_string(pair->rtp)).append("-").append(std::to_string(pair->rtcp));
}

}  // namespace

Result<std::vector<Transport>> parse_transports(std::string_view header) {
    std::vector<Transport> transports;
    while (!header.empty()) {
        std::string_view one = take_part(header, ',');
        Transport transport;
        if (!read_protocol(take_part(one, ';'), transport))
            continue;
        while (!one.empty())
            read_parameter(take_part(one, ';'), transport);
        if (transports.size() == kTransportsMax)
            return Error(Errc::limit, "RTSP: more than " + std::to_string(kTransportsMax) + " transports");
        transports.push_back(std::move(transport));
    }
    return transports;
}

std::string write(const Transport& transport) {
    std::string text = transport.is_secure ? "RTP/SAVP" : "RTP/AVP";
    if (transport.lower == Transport::Lower::tcp)
        text += "/TCP";
    text += transport.is_multicast ? ";multicast" : ";unicast";
    if (!transport.destination.empty())
        text.append(";destination=").append(transport.destination);
    if (!transport.source.empty())
        text.append(";source=").append(transport.source);
    append_pair(text, ";interleaved=", transport.interleaved);
    append_pair(text, ";client_port=", transport.client_port);
    append_pair(text, ";server_port=", transport.server_port);
    if (transport.ssrc) {
        constexpr std::string_view kDigits = "0123456789ABCDEF";
        text += ";ssrc=";
        for (int shift = 28; shift >= 0; shift -= 4)
            text += kDigits[*transport.ssrc >> shift & 0xFU];
    }
    if (transport.mode)
        text += *transport.mode == Transport::Mode::record ? ";mode=\"RECORD\"" : ";mode=\"PLAY\"";
    return text;
}

}  // namespace live::wire::rtsp
