// AES-128-GCM under one key (NIST SP 800-38D), encryption alone, for many short messages under many keys at a time. By Intel's
// multi-buffer library where the build has it and the processor has AES in its instructions, else by OpenSSL: what they make is
// the same, the first takes about a third of the time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/bytes.hpp"
#include "base/hot_lines.hpp"
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
    // Errc::system when the library refuses.
    static Result<std::unique_ptr<GcmCipher>> create(const Key& key, Library library = Library::fastest);
    // What `fastest` is here, for people.
    static const char* fastest();
    virtual ~GcmCipher() = default;

    // `first` and `second`, one behind the other, to `out`, and the tag of kTagBytes behind them; `clear` is authenticated alone.
    // `first` may stand where it is written to. A nonce is used once: two texts under one break the key. False when the library
    // fails.
    virtual bool seal(std::uint8_t* out, const Nonce& nonce, Bytes clear, Bytes first, Bytes second) = 0;
    // The memory that seal() reads, as far as it is known.
    virtual void add_hot_lines(HotLines& lines) const = 0;
};

}  // namespace live::engine::srtp
