// Shared by all RTSP connections of the process. Owned by app; outlives the connections.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "media/source/stream_table.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/common/credentials.hpp"
#include "session/common/traffic.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/rtsp/options.hpp"
#include "session/rtsp/udp_fan_out/udp_fan_out.hpp"
#include "session/rtsp/udp_ports.hpp"

namespace live::session::rtsp {

// The current settings.
class RtspVhosts {
public:
    virtual ~RtspVhosts() = default;
    // The options of the virtual host that serves `vhost`. Errc::not_found if unknown, Errc::denied if it is disabled or has no
    // RTSP.
    virtual Result<RtspOptions> find(const std::string& vhost) const = 0;
};

struct Counters {
    std::uint64_t connections = 0;
    std::uint64_t received_packets = 0;  // of media, from publishers
    std::uint64_t lost_packets = 0;      // of these, those that were missing for good
};

struct Context {
    media::StreamTable& streams;
    Admission& admission;
    const RtspVhosts& vhosts;
    StreamEvents& events;
    FanOut& fan_out;
    ClientTable& clients;
    Traffic& traffic;
    Counters& counters;
    UdpPorts& ports;
    UdpFanOut& udp_fan_out;
    PasswordSource& passwords;
    // URLs of the sources that RTSP clients publish; twice during a takeover.
    std::multiset<std::string>& published;
    // Read buffer of all connections; at least 64 KiB.
    MutBytes scratch;
    std::string product;
};

// Lists the URL of a source as published by RTSP while it lives.
class PublishedUrl {
public:
    PublishedUrl(std::multiset<std::string>& urls, const std::string& url) : urls_(urls), at_(urls.insert(url)) {}
    ~PublishedUrl() { urls_.erase(at_); }
    PublishedUrl(const PublishedUrl&) = delete;
    PublishedUrl& operator=(const PublishedUrl&) = delete;

private:
    std::multiset<std::string>& urls_;
    std::multiset<std::string>::iterator at_;
};

}  // namespace live::session::rtsp
