#include "session/srt/call/call_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "session/srt/options.hpp"
#include "wire/http/target.hpp"

namespace live::session::srt {

namespace {

constexpr std::string_view kScheme = "srt://";

Error malformed(std::string_view why) { return {Errc::malformed, fmt::format("srt:// address: {}", why)}; }

Result<std::uint32_t> number_of(std::string_view name, std::string_view text) {
    std::uint32_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, value);
    if (text.empty() || failure != std::errc() || stop != end)
        return malformed(fmt::format("{} is not a number", name));
    return value;
}

Result<void> set_passphrase(CallUrl& url, std::string value) {
    if (value.size() < kPassphraseBytesMin || value.size() > kPassphraseBytesMax)
        return malformed(fmt::format("passphrase has {} to {} characters", kPassphraseBytesMin, kPassphraseBytesMax));
    url.passphrase = std::move(value);
    return {};
}

Result<void> set_key_bytes(CallUrl& url, std::string_view value) {
    const std::uint32_t bytes = TRY(number_of("pbkeylen", value));
    if (bytes != 0 && bytes != 16 && bytes != 24 && bytes != 32)
        return malformed("pbkeylen is 16, 24 or 32");
    if (bytes != 0)
        url.key_bytes = bytes;
    return {};
}

Result<void> set_latency(CallUrl& url, std::string_view value) {
    const std::chrono::milliseconds latency{TRY(number_of("latency", value))};
    if (latency > CallUrl::kLatencyMax)
        return malformed(fmt::format("latency is in milliseconds, {} at most", CallUrl::kLatencyMax.count()));
    url.latency = latency;
    return {};
}

Result<void> set_number(std::uint32_t& into, std::string_view name, std::string_view value) {
    into = TRY(number_of(name, value));
    return {};
}

Result<void> set(CallUrl& url, std::string_view name, std::string value) {
    if (name == "streamid") {
        if (value.size() > kStreamIdBytesMax)
            return malformed(fmt::format("streamid has {} bytes at most", kStreamIdBytesMax));
        url.stream_id = std::move(value);
        return {};
    }
    if (name == "passphrase")
        return set_passphrase(url, std::move(value));
    if (name == "pbkeylen")
        return set_key_bytes(url, value);
    if (name == "latency")
        return set_latency(url, value);
    if (name == "kmrefreshrate")
        return set_number(url.key_refresh_packets, name, value);
    if (name == "kmpreannounce")
        return set_number(url.key_announce_packets, name, value);
    if (name == "mode" && value != "caller")
        return Error(Errc::unsupported, "srt:// address: this server calls, mode is caller");
    return {};
}

// Returns the text before the first `separator`, or all; `text` keeps the rest.
std::string_view take_until(std::string_view& text, char separator) {
    const std::string_view taken = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(taken.size() + 1, text.size()));
    return taken;
}

}  // namespace

std::string CallUrl::label() const { return fmt::format("{}{}", kScheme, Endpoint{host, port}.text()); }

bool is_srt_url(std::string_view text) { return text.starts_with(kScheme); }

Result<CallUrl> parse_call_url(std::string_view text) {
    if (!is_srt_url(text))
        return malformed("it begins with srt://");
    if (text.size() > CallUrl::kBytesMax)
        return Error(Errc::limit, fmt::format("srt:// address: {} bytes are the limit", CallUrl::kBytesMax));
    text.remove_prefix(kScheme.size());
    const std::size_t question = std::min(text.find('?'), text.size());
    std::string_view authority = text.substr(0, question);
    while (authority.ends_with('/'))
        authority.remove_suffix(1);
    auto where = TRY(parse_host(authority));
    if (!where.port)
        return malformed("it names no port");
    CallUrl url;
    url.host = std::move(where.host);
    url.port = *where.port;
    std::string_view rest = text.substr(std::min(question + 1, text.size()));
    while (!rest.empty()) {
        const std::string_view pair = take_until(rest, '&');
        std::string_view value = pair;
        const std::string_view name = take_until(value, '=');
        TRY(set(url, name, TRY(wire::http::percent_decode(value))));
    }
    return url;
}

}  // namespace live::session::srt
