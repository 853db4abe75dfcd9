#include "engine/crypto/md5.hpp"

#include <openssl/evp.h>

namespace live::engine::crypto {

Result<Md5Hash> md5(Bytes data) {
    Md5Hash hash{};
    unsigned size = 0;
    if (EVP_Digest(data.data(), data.size(), hash.data(), &size, EVP_md5(), nullptr) != 1 || size != hash.size())
        return Error(Errc::system, "MD5 is not available");
    return hash;
}

}  // namespace live::engine::crypto
