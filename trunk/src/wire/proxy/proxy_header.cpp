#include "wire/proxy/proxy_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace live::wire::proxy {

namespace {

constexpr std::string_view kText = "PROXY ";
constexpr std::array<std::uint8_t, 12> kSignature = {0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A};
constexpr std::uint8_t kVersion = 2;
constexpr std::uint8_t kLocal = 0;
constexpr std::uint8_t kProxied = 1;
constexpr std::uint8_t kTcp4 = 0x11;
constexpr std::uint8_t kTcp6 = 0x21;
constexpr std::size_t kIpv4Bytes = 4;
constexpr std::size_t kIpv6Bytes = 16;
constexpr std::size_t kIpv4Place = 12;  // in an IPv4-mapped address

Error bad_header(const char* why) { return {Errc::malformed, std::string("the PROXY header is not valid: ") + why}; }

bool begins_with(Bytes bytes, Bytes start) {
    const std::size_t size = std::min(bytes.size(), start.size());
    return std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size), start.begin());
}

std::size_t data_size(Bytes header) { return static_cast<std::size_t>(header[14]) << 8 | header[15]; }

// Section 2.2: version and command, and the length.
Result<std::size_t> binary_missing(Bytes begun) {
    if (begun.size() < kBinaryHeadBytes)
        return kBinaryHeadBytes - begun.size();
    const std::size_t size = kBinaryHeadBytes + data_size(begun);
    if (size > kBytesMax)
        return Error(Errc::limit, "the PROXY header is too long");
    return size - std::min(size, begun.size());
}

Result<std::size_t> text_missing(Bytes begun) {
    const std::string_view text = as_text(begun);
    if (text.ends_with("\r\n"))
        return 0;
    if (text.size() >= kTextBytesMax)
        return Error(Errc::limit, "the PROXY header is too long");
    if (text.find('\n') != std::string_view::npos)
        return bad_header("its line has another end");
    // The line may end with the next byte.
    return text.size() < kBytesMin ? kBytesMin - text.size() : 1;
}

std::string_view next_word(std::string_view& text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

Result<std::uint16_t> port_in(std::string_view word) {
    std::uint16_t port = 0;
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), port);
    if (failed != std::errc() || end != word.data() + word.size() || (word.size() > 1 && word.front() == '0'))
        return bad_header("a port is no number");
    return port;
}

// Section 2.1.
Result<std::optional<TransportAddress>> parse_text(std::string_view line) {
    line.remove_suffix(2);
    line.remove_prefix(kText.size());
    const std::string_view family = next_word(line);
    if (family == "UNKNOWN")
        return std::optional<TransportAddress>();
    if (family != "TCP4" && family != "TCP6")
        return bad_header("its protocol is unknown");
    TransportAddress source;
    source.ip = TRY(parse_ip(next_word(line)));
    const IpAddress destination = TRY(parse_ip(next_word(line)));
    source.port = TRY(port_in(next_word(line)));
    TRY(port_in(line));
    const bool wants_ipv4 = family == "TCP4";
    if (source.is_ipv4() != wants_ipv4 || TransportAddress{destination, 0}.is_ipv4() != wants_ipv4)
        return bad_header("an address is of another family");
    return std::optional(source);
}

Result<std::optional<TransportAddress>> parse_binary(Bytes header) {
    const std::uint8_t command = header[12] & 0x0F;
    if (header[12] >> 4 != kVersion || command > kProxied)
        return bad_header("its version or command is unknown");
    const std::uint8_t family = header[13];
    const Bytes data = header.subspan(kBinaryHeadBytes);
    if (command == kLocal || (family != kTcp4 && family != kTcp6))
        return std::optional<TransportAddress>();
    const std::size_t address_bytes = family == kTcp4 ? kIpv4Bytes : kIpv6Bytes;
    if (data.size() < 2 * address_bytes + 4)
        return bad_header("its addresses are incomplete");
    TransportAddress source;
    if (family == kTcp4) {
        source.ip.bytes[10] = source.ip.bytes[11] = 0xFF;
        std::copy_n(data.begin(), kIpv4Bytes, source.ip.bytes.begin() + kIpv4Place);
    } else {
        std::copy_n(data.begin(), kIpv6Bytes, source.ip.bytes.begin());
    }
    source.port = static_cast<std::uint16_t>(data[2 * address_bytes] << 8 | data[2 * address_bytes + 1]);
    return std::optional(source);
}

void append_address(std::string& out, const TransportAddress& address, bool is_ipv4) {
    const auto& bytes = address.ip.bytes;
    out.append(bytes.begin() + (is_ipv4 ? kIpv4Place : 0), bytes.end());
}

void append_number(std::string& out, std::size_t number) {
    out += static_cast<char>(number >> 8 & 0xFF);
    out += static_cast<char>(number & 0xFF);
}

}  // namespace

Result<std::size_t> bytes_missing(Bytes begun) {
    if (begins_with(begun, kSignature))
        return begun.size() < kBytesMin ? kBytesMin - begun.size() : binary_missing(begun);
    if (begins_with(begun, as_bytes(kText)))
        return text_missing(begun);
    return bad_header("the connection begins with something else");
}

Result<std::optional<TransportAddress>> parse_proxy_header(Bytes header) {
    if (header.size() < kBytesMin || TRY(bytes_missing(header)) != 0)
        return bad_header("it is incomplete");
    if (header.front() != kSignature.front())
        return parse_text(as_text(header));
    if (header.size() != kBinaryHeadBytes + data_size(header))
        return bad_header("it has another length");
    return parse_binary(header);
}

std::string write_text_header(const TransportAddress& source, const TransportAddress& destination) {
    return std::string(kText) + (source.is_ipv4() ? "TCP4 " : "TCP6 ") + ip_text(source.ip) + " " + ip_text(destination.ip) +
           " " + std::to_string(source.port) + " " + std::to_string(destination.port) + "\r\n";
}

std::string write_binary_header(const TransportAddress& source, const TransportAddress& destination) {
    const bool is_ipv4 = source.is_ipv4();
    std::string out(as_text(kSignature));
    out += static_cast<char>(kVersion << 4 | kProxied);
    out += static_cast<char>(is_ipv4 ? kTcp4 : kTcp6);
    append_number(out, is_ipv4 ? 2 * kIpv4Bytes + 4 : 2 * kIpv6Bytes + 4);
    append_address(out, source, is_ipv4);
    append_address(out, destination, is_ipv4);
    append_number(out, source.port);
    append_number(out, destination.port);
    return out;
}

}  // namespace live::wire::proxy
