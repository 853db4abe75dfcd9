// What a worker and its master tell each other: one message per packet of a socket that keeps packets apart. Both are the same
// program, so there is no version; everything is checked anyway, because a worker may be in any state.
//
//   kind u8 | flag u8 | worker u8 | 0 | ticket u32 | epoch u64 | text
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::workers {

// Workers are numbered from 1; 0 is none.
using Worker = std::uint8_t;
inline constexpr Worker kWorkersMax = 64;

inline constexpr std::size_t kHeadBytes = 16;
// Of a stream's url or a sentence.
inline constexpr std::size_t kTextMax = 4096;
inline constexpr std::size_t kMessageMax = kHeadBytes + kTextMax;

enum class Kind : std::uint8_t {
    // From a worker.
    ready = 1,  // it serves clients
    failed,     // it does not start: `text` says why, `ticket` is the exit status
    beat,       // its loop turns
    claim,      // may it publish the stream `text`? `flag` 1: in place of another publisher
    announce,   // it publishes the stream
    withdraw,   // it does not any more
    find,       // who publishes the stream?
    reload,     // an operator asks for it
    // To a worker.
    claimed,  // `ticket` of the question, `flag` is a Verdict, `worker` who has it
    found,    // `ticket` of the question; `worker` 0: nobody
    moved,    // `worker` publishes the stream now
    lost,     // `worker` has taken the stream over: close the publisher
    // Both ways, with a descriptor: a connection from another worker or to one. `flag` is a Purpose.
    link,
    // To a worker, with a descriptor, and the first message of all: the memory of the Tally.
    tally,
};

enum class Verdict : std::uint8_t { granted, refused, too_many };
enum class Purpose : std::uint8_t { media, control };

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
