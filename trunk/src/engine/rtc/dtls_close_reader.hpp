// What is left of a DTLS connection when its object has been let go: the key of the peer's records, to hear it say goodbye. An
// established OpenSSL object holds 76 KB, this some fifty bytes; a player that closes its page is thus still noticed at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"

struct ssl_st;

namespace live::engine::rtc {

enum class DtlsRole : std::uint8_t { server, client };

class DtlsCloseReader {
public:
    // Of an established connection in which we have `role`. Nothing for a suite that is none of ours, or when the library
    // refuses.
    static std::optional<DtlsCloseReader> create(const ssl_st* handle, DtlsRole role);

    // True for a datagram with an authentic alert that ends the connection: close_notify, or a fatal one (RFC 5246, 7.2).
    bool ends(Bytes datagram) const;

private:
    enum class Suite : std::uint8_t { aes_128_gcm, aes_256_gcm, chacha20_poly1305 };

    bool is_end(Bytes head, Bytes body) const;

    Suite suite_{};
    std::array<std::uint8_t, 32> key_{};
    std::array<std::uint8_t, 12> iv_{};
};

}  // namespace live::engine::rtc
