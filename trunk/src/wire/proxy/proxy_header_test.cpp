#include "wire/proxy/proxy_header.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::proxy {
namespace {

std::string text_of(Bytes header) {
    const auto parsed = parse_proxy_header(header);
    if (!parsed.ok())
        return std::string(name_of(parsed.code()));
    return *parsed ? ip_text((*parsed)->ip) + " " + std::to_string((*parsed)->port) : "none";
}
std::string text_of(std::string_view header) { return text_of(as_bytes(header)); }

// As a reader on a socket does: returns the header, and leaves the rest.
std::string read_from(std::string_view connection) {
    std::string begun(connection.substr(0, kBytesMin));
    for (;;) {
        const auto missing = bytes_missing(as_bytes(begun));
        if (!missing.ok())
            return std::string(name_of(missing.code()));
        if (*missing == 0)
            return begun;
        if (begun.size() == connection.size())
            return "ends";
        begun = connection.substr(0, begun.size() + *missing);
    }
}

// The example of the specification, section 2.1, and others of its forms.
TEST(ProxyHeader, ReadsText) {
    EXPECT_EQ(text_of("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n"), "192.168.0.1 56324");
    EXPECT_EQ(text_of("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n"), "255.255.255.255 65535");
    EXPECT_EQ(text_of("PROXY TCP6 2001:db8::7 2001:db8::1 0 443\r\n"), "2001:db8::7 0");
    EXPECT_EQ(text_of("PROXY UNKNOWN\r\n"), "none");
    EXPECT_EQ(text_of("PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n"), "none");
}

TEST(ProxyHeader, RefusesOtherText) {
    for (const char* text : {"PROXY TCP4 192.168.0.1 192.168.0.11 56324\r\n", "PROXY TCP4 192.168.0.1 192.168.0.11 65536 443\r\n",
                             "PROXY TCP4 192.168.0.1 192.168.0.11 056 443\r\n", "PROXY TCP4 192.168.0.1 192.168.0.11 -1 443\r\n",
                             "PROXY TCP4 192.168.0.1 192.168.0.11 1 443 \r\n", "PROXY TCP4  192.168.0.1 192.168.0.11 1 443\r\n",
                             "PROXY TCP4 2001:db8::7 2001:db8::1 1 443\r\n", "PROXY TCP6 192.168.0.1 192.168.0.11 1 443\r\n",
                             "PROXY UDP4 192.168.0.1 192.168.0.11 1 443\r\n", "PROXY TCP4 a.b.c.d 192.168.0.11 1 443\r\n",
                             "PROXY          \r\n", "GET / HTTP/1.1\r\n", "proxy TCP4 192.168.0.1 192.168.0.11 1 443\r\n"})
        EXPECT_EQ(text_of(text), "malformed") << text;
}

// Section 2.2: PROXY over TCP/IPv4 and IPv6, LOCAL, a UNIX socket, and TLVs behind the addresses.
TEST(ProxyHeader, ReadsBinary) {
    const std::string signature = "0d 0a 0d 0a 00 0d 0a 51 55 49 54 0a ";
    EXPECT_EQ(text_of(hex(signature + "21 11 00 0c c0 a8 00 01 c0 a8 00 0b dc 04 01 bb")), "192.168.0.1 56324");
    EXPECT_EQ(text_of(hex(signature + "21 11 00 10 c0 a8 00 01 c0 a8 00 0b dc 04 01 bb 04 00 01 00")), "192.168.0.1 56324");
    EXPECT_EQ(
        text_of(hex(signature + "21 21 00 24 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 07 20 01 0d b8 00 00 00 00 00 00 00 00 "
                                "00 00 00 01 dc 04 01 bb")),
        "2001:db8::7 56324");
    EXPECT_EQ(text_of(hex(signature + "20 00 00 00")), "none");
    EXPECT_EQ(text_of(hex(signature + "21 00 00 00")), "none");
    EXPECT_EQ(text_of(hex(signature + "21 31 00 01 00")), "none");
    EXPECT_EQ(text_of(hex(signature + "11 11 00 0c c0 a8 00 01 c0 a8 00 0b dc 04 01 bb")), "malformed") << "version 1";
    EXPECT_EQ(text_of(hex(signature + "22 11 00 0c c0 a8 00 01 c0 a8 00 0b dc 04 01 bb")), "malformed") << "command 2";
    EXPECT_EQ(text_of(hex(signature + "21 11 00 0b c0 a8 00 01 c0 a8 00 0b dc 04 01")), "malformed")
        << "too short for its addresses";
    EXPECT_EQ(text_of(hex(signature + "21 11 10 00 c0 a8 00 01 c0 a8 00 0b dc 04 01 bb")), "limit");
    EXPECT_EQ(text_of(hex(signature + "20 00 00 00 00")), "malformed") << "a byte of the client";
}

TEST(ProxyHeader, TakesNoByteOfTheClient) {
    const TransportAddress v4{MUST(parse_ip("10.0.0.7")), 51544}, v6{MUST(parse_ip("2001:db8::7")), 1};
    for (const std::string& header : {write_text_header(v4, v4), write_text_header(v6, v6), write_binary_header(v4, v4),
                                      write_binary_header(v6, v6), std::string("PROXY UNKNOWN\r\n")}) {
        EXPECT_EQ(read_from(header + "\r\nPROXY"), header);
        for (std::size_t size = 0; size < header.size(); ++size) {
            EXPECT_EQ(read_from(header.substr(0, size)), "ends") << size;
            EXPECT_FALSE(parse_proxy_header(as_bytes(header.substr(0, size))).ok()) << size;
        }
    }
    EXPECT_EQ(text_of(write_text_header(v4, v4)), "10.0.0.7 51544");
    EXPECT_EQ(text_of(write_binary_header(v6, v4)), "2001:db8::7 1");
    EXPECT_EQ(read_from("GET / HTTP/1.1\r\n\r\n"), "malformed");
    EXPECT_EQ(read_from("PROXY TCP4 1\n" + std::string(20, 'a')), "malformed");
}

TEST(ProxyHeader, HasABound) {
    EXPECT_EQ(read_from("PROXY UNKNOWN" + std::string(kTextBytesMax - 15, 'a') + "\r\n").size(), kTextBytesMax);
    EXPECT_EQ(read_from("PROXY UNKNOWN" + std::string(kTextBytesMax - 14, 'a') + "\r\n"), "limit");
}

}  // namespace
}  // namespace live::wire::proxy
