// HalfOpen: the places of SRT clients that wait for their admission, for a passphrase or for an operator's callback. Each address
// has a share of them, and so has each virtual host: neither one address nor one slow callback shuts everybody out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/net/ip_network.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/srt/options.hpp"

namespace live::session::srt {

class HalfOpen {
public:
    // A virtual host has at most half of the places.
    static constexpr std::size_t kVhostShare = 2;

    enum class Limit : std::uint8_t { all, address, vhost };

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
        Place(HalfOpen& all, std::string ip, std::optional<IpAddress> group, std::size_t vhost_bound);

        HalfOpen* all_;
        std::size_t vhost_bound_;
        std::string ip_;
        std::optional<IpAddress> group_;  // none: trusted
        std::optional<std::string> vhost_;
    };

    // `places`, which outlives this, groups addresses and logs refusals.
    explicit HalfOpen(ConnectionLimits& places) : places_(places) {}
    HalfOpen(const HalfOpen&) = delete;
    HalfOpen& operator=(const HalfOpen&) = delete;

    // Errc::limit, counted and logged by the name of the limit.
    Result<Place> take(const IpAddress& from, const SrtLimitOptions& limits, TimePoint now);
    std::size_t size() const { return size_; }
    // Indexed by Limit.
    std::span<const Refusals> refusals() const { return refusals_; }

private:
    Error refuse(Limit by, std::string_view ip, std::size_t bound, TimePoint now);

    ConnectionLimits& places_;
    std::size_t size_ = 0;
    std::array<Refusals, 3> refusals_{{
        {"srt_half_open", "{} SRT clients wait for their admission, which is the limit (limits.srt_half_open)"},
        {"srt_half_open_per_ip",
         "{} SRT clients wait for their admission, which is the limit of one address (limits.srt_half_open_per_ip)"},
        {"srt_half_open_per_vhost",
         "{} SRT clients wait for their admission, which is the limit of one virtual host (half of limits.srt_half_open)"},
    }};
    // Trees: strangers choose the keys. Only of those that have a place.
    std::map<std::array<std::uint8_t, 16>, std::size_t> addresses_;
    std::map<std::string, std::size_t> vhosts_;
};

}  // namespace live::session::srt
