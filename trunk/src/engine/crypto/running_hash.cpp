#include "engine/crypto/running_hash.hpp"

#include <openssl/evp.h>

namespace live::engine::crypto {

namespace {

Error failed() { return {Errc::system, "the library makes no such hash"}; }

}  // namespace

void RunningHash::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Result<RunningHash> RunningHash::create(Kind kind) {
    std::unique_ptr<evp_md_ctx_st, Free> context(EVP_MD_CTX_new());
    if (context == nullptr || EVP_DigestInit_ex(context.get(), kind == Kind::md5 ? EVP_md5() : EVP_sha256(), nullptr) != 1)
        return failed();
    return RunningHash(std::move(context));
}

Result<void> RunningHash::add(Bytes bytes) {
    if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1)
        return failed();
    return {};
}

Result<std::vector<std::uint8_t>> RunningHash::finish() {
    std::vector<std::uint8_t> hash(EVP_MAX_MD_SIZE);
    unsigned size = 0;
    if (EVP_DigestFinal_ex(context_.get(), hash.data(), &size) != 1)
        return failed();
    hash.resize(size);
    return hash;
}

std::string hex_text(Bytes bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 0xFU];
    }
    return text;
}

}  // namespace live::engine::crypto
