// The messages between a worker and its master, and between a process and the new program that takes its place: one message per
// packet of a socket that preserves packets. A new program may have another version, so it first gets the version of these
// messages (kSpoken). Everything is checked anyway, because the other end may be in any state.
//
//   kind u8 | flag u8 | worker u8 | 0 | ticket u32 | epoch u64 | text
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::workers {

// The version of these messages. A program that is started to take over refuses another one.
inline constexpr unsigned kSpoken = 1;

// Workers are numbered from 1; 0 is none.
using Worker = std::uint8_t;
inline constexpr Worker kWorkersMax = 64;
// During upgrades, the workers of several programs have different numbers.
inline constexpr Worker kMembersMax = 3 * kWorkersMax;

inline constexpr std::size_t kHeadBytes = 16;
// The limit of a stream's url or a sentence.
inline constexpr std::size_t kTextMax = 4096;
inline constexpr std::size_t kMessageMax = kHeadBytes + kTextMax;

enum class Kind : std::uint8_t {
    // From a worker.
    ready = 1,  // it serves clients
    failed,     // it does not start: `text` is the reason, `ticket` is the exit status
    beat,       // its loop turns
    claim,      // may it publish the stream `text`? `flag` 1: in place of another publisher
    announce,   // it publishes the stream
    withdraw,   // it has stopped publishing the stream
    find,       // who publishes the stream?
    reload,     // an operator requests it
    // To a worker.
    claimed,  // `ticket` of the question, `flag` is a Verdict, `worker` who has it
    found,    // `ticket` of the question; `worker` 0: nobody
    moved,    // `worker` publishes the stream now
    lost,     // `worker` has taken the stream over: close the publisher
    // Both ways, with a descriptor: a connection from another worker or to one. `flag` is a Purpose.
    link,
    // To a worker, with a descriptor, and the first message of all: the memory of the SharedLimits. `flag` 1: it replaces another
    // worker, and gifts follow.
    tally,
    // An upgrade, in this order. From a process: an operator requests it.
    upgrade,
    give,  // to the process: send copies of the sockets
    // From it, and forwarded to the new one, with a descriptor: `text` names it, such as "tcp 0.0.0.0:1935". `worker`: its
    // worker, where there are several.
    gift,
    given,     // from it: end of the gifts
    begin,     // to the new one: end of the gifts; `flag` 1: its parent stays; `ticket`: number of workers, 0 for one
    upgraded,  // to the old one: the new one serves, its pid is `ticket`; `flag` 1: it does not, `text` is the reason
    handed,    // from the old one: it has stopped accepting clients
    take,      // to the new one: it may accept clients; to workers of the old one: all of them have stopped
    // To each: the present members, one byte of `text` for each number.
    members,
    // From a master to the next one, with a descriptor: its line to `worker`. The streams of its workers come as announcements.
    member,
    // From a master to the process that stays above all programs, with a descriptor: the next program, to be started with it.
    launch,
    launched,  // back: its pid is `ticket`, and with a descriptor, its own line to that process; `flag` 1: it failed, `text` is
               // the reason
    // From a worker: an operator requests a graceful stop of all.
    quit,
};

enum class Verdict : std::uint8_t { granted, refused, too_many };
// Datagrams: those that the process which owns the port cannot place, to one that has handed it over.
enum class Purpose : std::uint8_t { media, control, datagrams };

struct Message {
    Kind kind = Kind::beat;
    std::uint8_t flag = 0;
    Worker worker = 0;
    std::uint32_t ticket = 0;
    std::uint64_t epoch = 0;
    std::string text{};

    bool operator==(const Message&) const = default;
};

// A longer text is cut.
std::vector<std::uint8_t> write_message(const Message& message);
// Errc::malformed.
Result<Message> parse_message(Bytes packet);

}  // namespace live::engine::workers
