#include "engine/rtc/hmac_sha1.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace live::engine::rtc {

Result<wire::stun::IntegrityTag> hmac_sha1(Bytes key, Bytes data) {
    wire::stun::IntegrityTag tag{};
    unsigned size = 0;
    if (HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()), data.data(), data.size(), tag.data(), &size) == nullptr ||
        size != tag.size())
        return Error(Errc::system, "HMAC-SHA1 is not available");
    return tag;
}

}  // namespace live::engine::rtc
