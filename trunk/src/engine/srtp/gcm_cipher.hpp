// AES-128-GCM under one key (NIST SP 800-38D), encryption only, for many short messages under many keys. Uses Intel's
// multi-buffer library if it is built in and the CPU has AES instructions, else OpenSSL: the output is the same, and the first
// takes about a third of the time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes/bytes.hpp"
#include "base/bytes/hot_lines.hpp"
#include "base/result.hpp"

namespace live::engine::srtp {

class GcmCipher {
public:
    static constexpr std::size_t kKeyBytes = 16;
    static constexpr std::size_t kNonceBytes = 12;
    static constexpr std::size_t kTagBytes = 16;
    using Key = std::array<std::uint8_t, kKeyBytes>;
    using Nonce = std::array<std::uint8_t, kNonceBytes>;

    enum class Library : std::uint8_t { fastest, openssl };
    // Errc::system if the library fails.
    static Result<std::unique_ptr<GcmCipher>> create(const Key& key, Library library = Library::fastest);
    // The library behind `fastest`, for logs.
    static const char* fastest();
    virtual ~GcmCipher() = default;

    // Encrypts `first` followed by `second` to `out`, followed by a tag of kTagBytes; `clear` is only authenticated. `first` may
    // already be at `out`. Never reuse a nonce: two plaintexts under one nonce break the key. False if the library fails.
    virtual bool seal(std::uint8_t* out, const Nonce& nonce, Bytes clear, Bytes first, Bytes second) = 0;
    // The memory seal() reads, as far as it is known.
    virtual void add_hot_lines(HotLines& lines) const = 0;
};

}  // namespace live::engine::srtp
