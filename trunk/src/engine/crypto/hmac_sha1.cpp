#include "engine/crypto/hmac_sha1.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <memory>

namespace live::engine::crypto {

namespace {

struct FreeMacContext {
    void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using ContextPtr = std::unique_ptr<EVP_MAC_CTX, FreeMacContext>;

ContextPtr make_context() {
    EVP_MAC* const hmac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    if (hmac == nullptr)
        return nullptr;
    ContextPtr context(EVP_MAC_CTX_new(hmac));
    EVP_MAC_free(hmac);
    std::array<char, 5> digest{"SHA1"};
    const std::array parameters{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                                OSSL_PARAM_construct_end()};
    if (context != nullptr && EVP_MAC_CTX_set_params(context.get(), parameters.data()) != 1)
        context.reset();
    return context;
}

}  // namespace

Result<wire::stun::IntegrityTag> hmac_sha1(Bytes key, Bytes data) {
    // Fetching the hash algorithm costs more than computing the hash.
    static thread_local const ContextPtr context = make_context();
    wire::stun::IntegrityTag tag{};
    std::size_t size = 0;
    if (context == nullptr || EVP_MAC_init(context.get(), key.data(), key.size(), nullptr) != 1 ||
        EVP_MAC_update(context.get(), data.data(), data.size()) != 1 ||
        EVP_MAC_final(context.get(), tag.data(), &size, tag.size()) != 1 || size != tag.size())
        return Error(Errc::system, "HMAC-SHA1 is not available");
    return tag;
}

}  // namespace live::engine::crypto
