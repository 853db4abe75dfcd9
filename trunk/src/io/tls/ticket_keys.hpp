// TicketKeys: the keys that encrypt the session tickets of a TLS server (RFC 5077; RFC 8446, 4.6.1). They follow from a secret
// and the time: all workers, and the program that replaces them in an upgrade, have the same keys without a message. A new key is
// used every kPeriod; tickets of the one before are accepted.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::io {

class TicketKeys {
public:
    using WallTime = std::chrono::system_clock::time_point;
    // Longer than a ticket lives, so that each one is accepted for its whole life.
    static constexpr std::chrono::hours kPeriod{3};
    static constexpr std::chrono::hours kTicketLife{2};

    struct Key {
        std::array<std::uint8_t, 16> name{};
        std::array<std::uint8_t, 32> encryption{};
        std::array<std::uint8_t, 32> authentication{};
    };

    explicit TicketKeys(std::string secret) : secret_(std::move(secret)) {}
    TicketKeys(const TicketKeys&) = delete;
    TicketKeys& operator=(const TicketKeys&) = delete;
    ~TicketKeys();

    // For new tickets. Errc::system if the library fails.
    Result<const Key*> current(WallTime now);
    enum class Age : std::uint8_t { current, previous, unknown };
    struct Found {
        const Key* key = nullptr;
        Age age = Age::unknown;
    };
    // The key of a ticket, by its name.
    Result<Found> find(Bytes name, WallTime now);

private:
    // Derives the keys of the period of `now`, unless they are there.
    Result<void> turn_to(WallTime now);

    std::string secret_;
    std::int64_t period_ = -1;
    Key current_;
    Key previous_;
};

}  // namespace live::io
