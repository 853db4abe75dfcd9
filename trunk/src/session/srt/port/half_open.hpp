// HalfOpen: the places of SRT clients that wait for their admission, for a passphrase or for an operator's callback. Each address
// has a share of them, and so has each virtual host: neither one address nor one slow callback shuts everybody out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/net/ip_network.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::session::srt {

class HalfOpen {
public:
    // A virtual host has at most half of the places.
    static constexpr std::size_t kVhostShare = 2;

    // The place of one client; released when destroyed, which must be before the HalfOpen is.
    class Place {
    public:
        Place(Place&& other) noexcept;
        Place& operator=(Place&&) = delete;
        ~Place();

        // Once the virtual host is known. Errc::limit; the place then counts for no virtual host.
        Result<void> enter_vhost(const std::string& vhost, TimePoint now);

    private:
        friend class HalfOpen;
        Place(HalfOpen& all, std::string ip, std::optional<IpAddress> group);

        HalfOpen* all_;
        std::string ip_;
        std::optional<IpAddress> group_;  // none: trusted
        std::optional<std::string> vhost_;
    };

    // The limits are those of `places`, which outlives this.
    explicit HalfOpen(ConnectionLimits& places) : places_(places) {}
    HalfOpen(const HalfOpen&) = delete;
    HalfOpen& operator=(const HalfOpen&) = delete;

    // Errc::limit, counted and logged by the name of the limit.
    Result<Place> take(const IpAddress& from, TimePoint now);
    std::size_t size() const { return size_; }

private:
    ConnectionLimits& places_;
    std::size_t size_ = 0;
    // Trees: strangers choose the keys. Only of those that have a place.
    std::map<std::array<std::uint8_t, 16>, std::size_t> addresses_;
    std::map<std::string, std::size_t> vhosts_;
};

}  // namespace live::session::srt
