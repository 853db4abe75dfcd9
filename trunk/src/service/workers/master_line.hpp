// MasterLine: a worker's end of the socket to its master, with what waits to be sent, and the memory that all workers share.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>

#include "base/signal.hpp"
#include "engine/workers/message.hpp"
#include "engine/workers/tally.hpp"
#include "io/files/shared_memory.hpp"
#include "io/net/message_socket.hpp"

namespace live::service::workers {

// Which of how many a process is; number 0: it is no worker.
struct Seat {
    engine::workers::Worker number = 0;
    engine::workers::Worker count = 0;
    // What the master knows it by, where that is not `number`: a process before or after an upgrade. Workers that are started
    // together are known by numbers that follow each other, after a multiple of their count.
    engine::workers::Worker id = 0;

    engine::workers::Worker address() const { return id != 0 ? id : number; }
    // Of a worker that was started with this one.
    engine::workers::Worker address_of(engine::workers::Worker other) const {
        return static_cast<engine::workers::Worker>(address() - number + other);
    }
    bool is_mate(engine::workers::Worker other) const {
        return is_worker() && other > address() - number && other <= address() - number + count;
    }
    // The process with that address has, or had, the same ports before or after an upgrade.
    bool shares_ports_with(engine::workers::Worker other) const {
        return !is_worker() || (!is_mate(other) && other != 0 && (other - 1) % count == number - 1);
    }
    bool is_worker() const { return number != 0; }
    // Alone, or the first worker: what must be done once is done there.
    bool is_first() const { return number <= 1; }
};

class MasterLine {
public:
    // Beyond this the master does not read, and is told nothing more.
    static constexpr std::size_t kWaitingMax = 10'000;

    struct Incoming {
        engine::workers::Message message;
        io::Socket passed{};
    };

    MasterLine(Seat seat, io::Socket socket) : seat_(seat), socket_(std::move(socket)) {}
    MasterLine(Seat seat, io::MessageSocket socket) : seat_(seat), socket_(std::move(socket)) {}

    const Seat& seat() const { return seat_; }
    // A program that takes over is told its place by this line.
    void sit(const Seat& seat) { seat_ = seat; }
    // The master's first message, which is there when the worker starts. Errc::timed_out, Errc::closed, Errc::malformed,
    // Errc::system.
    Result<void> take_tally(std::string_view secret, io::Deadline deadline);
    // nullptr before that.
    engine::workers::Tally* tally() { return tally_ ? &*tally_ : nullptr; }
    // The tally came with the word that gifts follow.
    bool has_heritage() const { return has_heritage_; }
    // Never waits. False when too much waits already.
    bool tell(const engine::workers::Message& message, io::Socket passed = {});
    // Sends what fits now. Errc::closed when the master is gone.
    Result<void> flush();
    // Sends all of it. Errc::closed, Errc::timed_out, Errc::cancelled.
    Result<void> flush_all(io::Deadline deadline);
    // None: nothing more for now. Errc::closed when the master is gone.
    Result<std::optional<Incoming>> take();
    // Waits for it. Errc::closed, Errc::timed_out with this sentence, Errc::cancelled.
    Result<Incoming> next(std::string_view late, io::Deadline deadline);
    // Until something comes, what waits may go on, or the deadline.
    Result<void> wait(io::Deadline deadline);

private:
    struct Outgoing {
        std::vector<std::uint8_t> bytes;
        io::Socket passed;
    };

    Seat seat_;
    io::MessageSocket socket_;
    std::unique_ptr<io::SharedMemory> memory_;
    std::optional<engine::workers::Tally> tally_;
    bool has_heritage_ = false;
    std::deque<Outgoing> waiting_;
    Signal told_;
};

}  // namespace live::service::workers
