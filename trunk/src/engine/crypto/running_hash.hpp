// A hash of bytes that come in pieces: of files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

struct evp_md_ctx_st;

namespace live::engine::crypto {

class RunningHash {
public:
    enum class Kind : std::uint8_t { md5, sha256 };

    // Errc::system if the library does not have it, as with MD5 in FIPS mode.
    static Result<RunningHash> create(Kind kind);
    // Errc::system.
    Result<void> add(Bytes bytes);
    // The hash, once.
    Result<std::vector<std::uint8_t>> finish();

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const;
    };
    explicit RunningHash(std::unique_ptr<evp_md_ctx_st, Free> context) : context_(std::move(context)) {}

    std::unique_ptr<evp_md_ctx_st, Free> context_;
};

// "0aff"
std::string hex_text(Bytes bytes);

}  // namespace live::engine::crypto
