// The UDP sockets of all WebRTC clients of a load, one each, and their timers, served by one fiber: thousands of players get
// dozens of datagrams per second each, and waking a fiber for each would cost more than handling it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "engine/webrtc/datagram_batch.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/socket.hpp"

namespace live::bench {

// The user of a socket. Nothing here may suspend, or join or leave the hub.
class RtcMember {
public:
    // `arrived` is the kernel's time: delays of this process are not the network's.
    virtual void on_datagram(TimePoint arrived, MutBytes datagram) = 0;
    // After a batch of datagrams, and when next_due() has passed. Output is appended to the hub's output.
    virtual void on_turn(TimePoint now) = 0;
    virtual TimePoint next_due() const = 0;
    virtual void on_sent(std::size_t bytes) = 0;
    // The other machine reports that nothing listens there.
    virtual void on_refused() = 0;

protected:
    ~RtcMember() = default;
};

class RtcHub {
public:
    // The poll interval when it does not react at once.
    static constexpr std::chrono::milliseconds kTick{5};
    static constexpr std::size_t kDatagramBytesMax = 2'048;
    static constexpr std::size_t kBatch = 32;              // datagrams per call
    static constexpr std::size_t kEventsMax = 256;         // sockets per call
    static constexpr std::size_t kSocketsPerTurn = 1'024;  // then it yields

    enum class Pace : std::uint8_t { at_once, by_tick };
    RtcHub();
    ~RtcHub();
    RtcHub(const RtcHub&) = delete;
    RtcHub& operator=(const RtcHub&) = delete;

    // Before run().
    void set_pace(Pace pace) { pace_ = pace; }
    // Runs until cancelled.
    void run(io::Deadline deadline);

    using Id = std::uint64_t;
    // Opens a separate socket to `remote`. `member` stays until leave(). Errc::system, Errc::malformed.
    Result<Id> join(RtcMember& member, const Endpoint& remote);
    void leave(Id id);
    // Serves a member out of turn: its received datagrams and its output.
    void serve(Id id);

    // Where members put their output.
    engine::webrtc::DatagramBatch& output() { return output_; }

private:
    struct Entry;
    struct Buffers;
    struct Due {
        TimePoint when;
        Id id;
        bool operator>(const Due& other) const { return when > other.when; }
    };

    Result<void> open();
    // True when there may be more.
    bool take_events(TimePoint now);
    void serve_due(TimePoint now);
    void receive(Entry& entry, TimePoint now);
    void turn(Id id, Entry& entry, TimePoint now);
    void send(Entry& entry);
    bool send_gso_batch(Entry& entry, const engine::webrtc::DatagramBatch::GsoBatch& gso);
    void arm(Id id, Entry& entry);

    Pace pace_ = Pace::at_once;
    io::Socket epoll_;
    Signal wake_;  // a timer earlier than all others was set
    std::unique_ptr<Buffers> buffers_;
    std::unordered_map<Id, std::unique_ptr<Entry>> entries_;
    std::vector<Due> due_;  // a heap, soonest first; outdated entries are skipped
    engine::webrtc::DatagramBatch output_;
    Id next_id_ = 1;
    bool cuts_in_kernel_ = true;
};

}  // namespace live::bench
