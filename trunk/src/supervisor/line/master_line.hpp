// MasterLine: one end of the socket between a process and its master, with the queue of unsent messages. A worker's line holds
// the memory that all workers share, too.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "base/signal.hpp"
#include "engine/workers/message.hpp"
#include "engine/workers/shared_limits.hpp"
#include "engine/workers/worker_identity.hpp"
#include "io/files/shared_memory.hpp"
#include "io/net/message_socket.hpp"

namespace live::supervisor {

using engine::workers::WorkerIdentity;

class MasterLine {
public:
    // Unsent messages. A longer queue means that the other end does not read, and further messages are dropped.
    static constexpr std::size_t kQueueMax = 10'000;

    struct Incoming {
        engine::workers::Message message;
        io::Socket passed{};
    };

    MasterLine(WorkerIdentity identity, io::Socket socket, std::size_t queue_max = kQueueMax)
        : identity_(identity), socket_(std::move(socket)), queue_max_(queue_max) {}

    const WorkerIdentity& identity() const { return identity_; }
    // A program that takes over learns its identity from the first messages.
    void set_identity(const WorkerIdentity& identity) { identity_ = identity; }
    // Receives the master's first message: the shared memory. Errc::timed_out, Errc::closed, Errc::malformed, Errc::system.
    Result<void> take_tally(std::string_view secret, io::Deadline deadline);
    // nullptr before take_tally().
    engine::workers::SharedLimits* shared_limits() { return shared_limits_ ? &*shared_limits_ : nullptr; }
    // Reports whether inherited sockets follow the shared memory.
    bool inherits() const { return inherits_; }
    // Queues a message. Never waits. False when the queue is full.
    bool send(const engine::workers::Message& message, io::Socket passed = {});
    // Sends as much of the queue as fits now. Errc::closed when the master is gone.
    Result<void> flush();
    // Sends the whole queue. Errc::closed, Errc::timed_out, Errc::cancelled.
    Result<void> flush_all(io::Deadline deadline);
    // Returns the next received message; none: nothing for now. Errc::closed when the master is gone.
    Result<std::optional<Incoming>> take();
    // Waits for the next message. Errc::closed, Errc::timed_out with the sentence `late`, Errc::cancelled.
    Result<Incoming> next(std::string_view late, io::Deadline deadline);
    // Waits until a message arrives, the queue can be sent, wake(), or the deadline.
    Result<void> wait(io::Deadline deadline);
    void wake() { queued_.raise(); }
    bool has_queued() const { return !queue_.empty(); }
    bool is_full() const { return queue_.size() >= queue_max_; }
    bool is_open() const { return socket_.native_handle() >= 0; }
    void close() { socket_.close(); }
    int native_handle() const { return socket_.native_handle(); }

private:
    struct Outgoing {
        std::vector<std::uint8_t> bytes;
        io::Socket passed;
    };

    WorkerIdentity identity_;
    io::MessageSocket socket_;
    const std::size_t queue_max_;
    std::unique_ptr<io::SharedMemory> memory_;
    std::optional<engine::workers::SharedLimits> shared_limits_;
    bool inherits_ = false;
    std::deque<Outgoing> queue_;
    Signal queued_;
};

}  // namespace live::supervisor
