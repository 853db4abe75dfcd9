#include "engine/rtc/dtls_close_reader.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/obj_mac.h>
#include <openssl/params.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"

namespace live::engine::rtc {

namespace {

constexpr std::uint8_t kAlert = 21;
constexpr std::size_t kHeadBytes = 13;
constexpr std::size_t kAlertBytes = 2;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kExplicitBytes = 8;  // of GCM's nonce, in the record (RFC 5288, 3)
constexpr std::size_t kRecordsMax = 16;    // of one datagram that are looked at

struct FreeKdf {
    void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
    void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// RFC 5246, 6.3: the key block. With an AEAD it has no keys for a MAC.
bool expand(const SSL* handle, const char* digest, MutBytes block) {
    constexpr std::size_t kRandomBytes = 32;
    std::array<std::uint8_t, SSL_MAX_MASTER_KEY_LENGTH> master{};
    const std::size_t master_bytes = SSL_SESSION_get_master_key(SSL_get0_session(handle), master.data(), master.size());
    std::array<std::uint8_t, 13 + 2 * kRandomBytes> seed{};
    std::ranges::copy(as_bytes("key expansion"), seed.begin());
    SSL_get_server_random(handle, seed.data() + 13, kRandomBytes);
    SSL_get_client_random(handle, seed.data() + 13 + kRandomBytes, kRandomBytes);
    const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "TLS1-PRF", nullptr));
    const std::unique_ptr<EVP_KDF_CTX, FreeKdf> context(kdf != nullptr ? EVP_KDF_CTX_new(kdf.get()) : nullptr);
    if (context == nullptr || master_bytes == 0)
        return false;
    std::string name = digest;
    const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, name.data(), 0),
                                     OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, master.data(), master_bytes),
                                     OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed.data(), seed.size()),
                                     OSSL_PARAM_construct_end()};
    return EVP_KDF_derive(context.get(), block.data(), block.size(), parameters) == 1;
}

}  // namespace

std::optional<DtlsCloseReader> DtlsCloseReader::create(const ssl_st* handle, DtlsRole role) {
    const SSL_CIPHER* const cipher = SSL_get_current_cipher(handle);
    if (cipher == nullptr)
        return std::nullopt;
    DtlsCloseReader reader;
    std::size_t key_bytes = 32;
    std::size_t iv_bytes = 4;
    switch (SSL_CIPHER_get_cipher_nid(cipher)) {
        case NID_aes_128_gcm:
            reader.suite_ = Suite::aes_128_gcm;
            key_bytes = 16;
            break;
        case NID_aes_256_gcm: reader.suite_ = Suite::aes_256_gcm; break;
        case NID_chacha20_poly1305:
            reader.suite_ = Suite::chacha20_poly1305;
            iv_bytes = 12;
            break;
        default: return std::nullopt;
    }
    const EVP_MD* const digest = SSL_CIPHER_get_handshake_digest(cipher);
    std::vector<std::uint8_t> block(2 * (key_bytes + iv_bytes));
    if (digest == nullptr || !expand(handle, EVP_MD_get0_name(digest), block))
        return std::nullopt;
    // The client's key, the server's, then the parts of the nonce in the same order.
    const std::size_t peer = role == DtlsRole::client ? 1 : 0;
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(peer * key_bytes), key_bytes, reader.key_.begin());
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(2 * key_bytes + peer * iv_bytes), iv_bytes, reader.iv_.begin());
    return reader;
}

bool DtlsCloseReader::ends(Bytes datagram) const {
    ByteReader in(datagram);
    for (std::size_t i = 0; i < kRecordsMax; ++i) {
        const auto head = in.take(kHeadBytes);
        const auto body = head.ok() ? in.take(std::size_t{(*head)[11]} << 8 | (*head)[12]) : head;
        if (!body.ok())
            return false;
        // Epoch 0 is in plain text, so anybody's.
        const bool is_protected = (*head)[3] != 0 || (*head)[4] != 0;
        if ((*head)[0] == kAlert && is_protected && is_end(*head, *body))
            return true;
    }
    return false;
}

bool DtlsCloseReader::is_end(Bytes head, Bytes body) const {
    const bool is_gcm = suite_ != Suite::chacha20_poly1305;
    const std::size_t explicit_bytes = is_gcm ? kExplicitBytes : 0;
    if (body.size() != explicit_bytes + kAlertBytes + kTagBytes)
        return false;
    std::array<std::uint8_t, 12> nonce = iv_;
    if (is_gcm)
        std::ranges::copy(body.first(kExplicitBytes), nonce.begin() + 4);
    else
        // RFC 7905, 2: epoch and number, mixed in.
        for (std::size_t i = 0; i < 8; ++i)
            nonce[4 + i] = static_cast<std::uint8_t>(nonce[4 + i] ^ head[3 + i]);
    // RFC 5246, 6.2.3.3 with RFC 6347, 4.1.2.1: epoch and number, type, version, length of the plain text.
    std::array<std::uint8_t, 13> about{};
    std::ranges::copy(head.subspan(3, 8), about.begin());
    std::ranges::copy(head.first(3), about.begin() + 8);
    about[12] = kAlertBytes;
    const EVP_CIPHER* const cipher = suite_ == Suite::aes_128_gcm   ? EVP_aes_128_gcm()
                                     : suite_ == Suite::aes_256_gcm ? EVP_aes_256_gcm()
                                                                    : EVP_chacha20_poly1305();
    const std::unique_ptr<EVP_CIPHER_CTX, FreeKdf> context(EVP_CIPHER_CTX_new());
    const Bytes sealed = body.subspan(explicit_bytes, kAlertBytes);
    const Bytes rest = body.subspan(explicit_bytes + kAlertBytes);
    std::array<std::uint8_t, kTagBytes> tag{};
    std::ranges::copy(rest, tag.begin());
    std::array<std::uint8_t, kAlertBytes> alert{};
    int written = 0;
    if (context == nullptr || EVP_DecryptInit_ex(context.get(), cipher, nullptr, key_.data(), nonce.data()) != 1 ||
        EVP_DecryptUpdate(context.get(), nullptr, &written, about.data(), static_cast<int>(about.size())) != 1 ||
        EVP_DecryptUpdate(context.get(), alert.data(), &written, sealed.data(), static_cast<int>(sealed.size())) != 1 ||
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), tag.data()) != 1 ||
        EVP_DecryptFinal_ex(context.get(), alert.data() + written, &written) != 1)
        return false;
    constexpr std::uint8_t kFatal = 2;
    constexpr std::uint8_t kCloseNotify = 0;
    return alert[0] == kFatal || alert[1] == kCloseNotify;
}

}  // namespace live::engine::rtc
