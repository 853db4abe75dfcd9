#include "io/tls/client_hello.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ssl.h>

#include "base/bytes/byte_writer.hpp"

namespace live::io {
namespace {

// A hello with these extensions, each written as type, length and data.
std::vector<std::uint8_t> hello_with(Bytes extensions) {
    ByteWriter body;
    body.u16be(0x0303).zeros(32).u8(4).zeros(4).u16be(2).u16be(0x1301).u8(1).u8(0);
    body.u16be(static_cast<std::uint16_t>(extensions.size())).bytes(extensions);
    ByteWriter out;
    out.u8(22).u16be(0x0301).u16be(static_cast<std::uint16_t>(4 + body.written().size())).u8(1);
    out.u24be(static_cast<std::uint32_t>(body.written().size())).bytes(body.written());
    return {out.written().begin(), out.written().end()};
}

std::vector<std::uint8_t> extension(std::uint16_t type, std::size_t size) {
    ByteWriter out;
    out.u16be(type).u16be(static_cast<std::uint16_t>(size)).zeros(size);
    return {out.written().begin(), out.written().end()};
}

std::vector<std::uint8_t> joined(std::initializer_list<std::vector<std::uint8_t>> parts) {
    std::vector<std::uint8_t> all;
    for (const auto& part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

struct Vector {
    const char* name;
    std::vector<std::uint8_t> extensions;
    bool offers;
};

const std::vector<Vector>& vectors() {
    static const std::vector<Vector> all{
        {"no extensions", {}, false},
        {"a name only", extension(0, 20), false},
        {"an empty ticket: the client would take one", extension(35, 0), false},
        {"a ticket", extension(35, 180), true},
        {"a pre-shared key", extension(41, 250), true},
        {"a key after others", joined({extension(0, 20), extension(35, 0), extension(51, 36), extension(41, 250)}), true},
        {"an extension that is longer than the rest", {0, 0, 0, 9, 1}, false},
    };
    return all;
}

TEST(ClientHello, FindsAnOfferedSession) {
    for (const Vector& vector : vectors())
        EXPECT_EQ(offers_session(hello_with(vector.extensions)), vector.offers) << vector.name;
}

TEST(ClientHello, PartOfAHelloOffersNothing) {
    for (const Vector& vector : vectors()) {
        const auto whole = hello_with(vector.extensions);
        for (std::size_t size = 0; size < whole.size(); ++size)
            EXPECT_FALSE(offers_session(Bytes(whole).first(size))) << vector.name << " cut at " << size;
    }
}

TEST(ClientHello, OtherBeginningsOfferNothing) {
    auto hello = hello_with(extension(41, 20));
    ASSERT_TRUE(offers_session(hello));
    hello[0] = 23;
    EXPECT_FALSE(offers_session(hello)) << "application data";
    hello[0] = 22;
    hello[5] = 2;
    EXPECT_FALSE(offers_session(hello)) << "a ServerHello";
    EXPECT_FALSE(offers_session(as_bytes(std::string_view("GET / HTTP/1.1\r\n\r\n"))));
}

// The hello of OpenSSL's client.
TEST(ClientHello, ReadsTheHelloOfALibrary) {
    SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
    SSL* const tls = SSL_new(context);
    BIO* const output = BIO_new(BIO_s_mem());
    SSL_set_bio(tls, BIO_new(BIO_s_mem()), output);
    SSL_set_connect_state(tls);
    SSL_do_handshake(tls);
    const std::uint8_t* data = nullptr;
    const auto size = static_cast<std::size_t>(BIO_get_mem_data(output, &data));
    const std::vector<std::uint8_t> hello(data, data + size);
    SSL_free(tls);
    SSL_CTX_free(context);
    ASSERT_GT(hello.size(), 100U);
    EXPECT_FALSE(offers_session(hello));
}

}  // namespace
}  // namespace live::io
