// The state of this process for the service manager that started it, by the protocol of sd_notify(3): one datagram for each
// change, to the socket that NOTIFY_SOCKET names. Not libsystemd: the protocol is lines of text, and is promised to stay.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "base/time.hpp"

namespace live::io {

class ServiceManager {
public:
    // `address` is the value of NOTIFY_SOCKET: an absolute path, or a name in the abstract namespace after '@'. Empty: no service
    // manager, and every call succeeds without effect.
    explicit ServiceManager(std::string address) : address_(std::move(address)) {}

    bool is_present() const { return !address_.empty(); }

    // Each sends one datagram at once, or fails: Errc::malformed for an address of another form, Errc::system.
    Result<void> ready() const { return send("READY=1"); }
    // Until the next ready().
    Result<void> reloading(TimePoint now) const;
    Result<void> stopping() const { return send("STOPPING=1"); }
    // From now on `pid` is the main process of the service: its end is the end of the service.
    Result<void> main_process(std::uint32_t pid) const;

private:
    Result<void> send(std::string_view state) const;

    std::string address_;
};

}  // namespace live::io
