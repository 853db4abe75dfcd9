#include "engine/crypto/hmac_sha256.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace live::engine::crypto {

Result<Sha256Tag> hmac_sha256(Bytes key, Bytes data) {
    // The library takes no key at all for a mistake.
    static constexpr std::uint8_t kNothing = 0;
    Sha256Tag tag{};
    unsigned size = 0;
    const void* const key_data = key.empty() ? &kNothing : key.data();
    if (HMAC(EVP_sha256(), key_data, static_cast<int>(key.size()), data.data(), data.size(), tag.data(), &size) == nullptr ||
        size != tag.size())
        return Error(Errc::system, "HMAC-SHA256 is not available");
    return tag;
}

}  // namespace live::engine::crypto
