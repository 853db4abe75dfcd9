// Gb28181Service: the stream caster for cameras of GB/T 28181: its ports, its sessions, and their description for the reports.
// TCP and UDP ports have the same numbers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "service/service.hpp"
#include "session/gb28181/context.hpp"
#include "session/gb28181/server.hpp"

namespace live::service::gb28181 {

class Gb28181Service final : public Service {
public:
    // `listen`: as in the settings, valid endpoints. Everything referred to outlives this.
    Gb28181Service(const session::gb28181::Context& context, std::vector<std::string> listen, const Log& log);
    ~Gb28181Service() override;
    Gb28181Service(const Gb28181Service&) = delete;
    Gb28181Service& operator=(const Gb28181Service&) = delete;

    session::gb28181::Directory& directory() { return server_; }

    std::string_view name() const override { return "the GB28181 caster"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    Result<void> close(io::Deadline deadline) override;
    // The senders of datagrams are the other process's from now on.
    Result<void> hand_over(io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;
    std::optional<session::Protocol> protocol() override;

private:
    Result<void> listen_at(const Endpoint& endpoint);

    const std::vector<std::string> listen_;
    const std::string output_;
    const Log& log_;
    io::Scope connections_{"gb28181-connection"};
    io::Scope listeners_{"gb28181-listener"};
    session::gb28181::Server server_;
};

}  // namespace live::service::gb28181
