// DatagramForwarder: the datagrams that a process passes on to those that had its UDP ports before it, and those that it gets
// from the one that has them now. Nothing waits: what a socket does not take is lost, as in a network.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/message_socket.hpp"
#include "service/service.hpp"
#include "service/workers/worker_service.hpp"
#include "session/common/forwarded_datagram.hpp"

namespace live::service::workers {

class DatagramForwarder final : public Service, public session::DatagramForwarding {
public:
    // From one process, between two yields.
    static constexpr std::size_t kBatch = 64;

    // The datagram may be changed in place. Must not suspend.
    using Take = std::function<void(const session::ForwardedDatagram& forwarded, MutBytes datagram)>;

    // `takes_over`: this process has taken over from others. Everything referred to outlives this.
    DatagramForwarder(WorkerService& workers, bool takes_over, Take take, Log log)
        : workers_(workers), takes_over_(takes_over), take_(std::move(take)), log_(std::move(log)) {}

    // Processes that exist before this one serves had its ports. Each of several workers has its own predecessor.
    void on_others(const std::vector<engine::workers::Worker>& all);
    // Receives the datagrams that the current owner of the ports forwards.
    void serve(io::Socket socket);
    void pass(const session::ForwardedDatagram& forwarded, Bytes datagram) override;

    std::size_t links() const { return links_.size(); }
    std::uint64_t passed() const { return passed_; }

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override { return receivers_.stop(deadline); }
    std::string_view name() const override { return "forwarded datagrams"; }

private:
    struct Link {
        engine::workers::Worker to = 0;
        io::MessageSocket socket;
    };

    void receive(io::MessageSocket& socket, io::Deadline deadline);
    Result<void> take_batch(io::MessageSocket& socket);

    WorkerService& workers_;
    bool takes_over_;
    const Take take_;
    const Log log_;
    std::vector<Link> links_;
    std::vector<std::uint8_t> message_;
    std::vector<std::uint8_t> received_;
    std::uint64_t passed_ = 0;
    io::Scope receivers_{"datagram-forwarder"};
};

}  // namespace live::service::workers
