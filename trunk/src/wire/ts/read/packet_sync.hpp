// PacketSync: finds the packets of a transport stream in a stream of bytes: packets of 188 bytes, with 4 bytes of a timestamp in
// front of each (192, as in .m2ts) or 16 bytes of error correction behind (204). Finds them again after other bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live::wire::ts {

class PacketSync {
public:
    static constexpr std::array<std::size_t, 3> kStrides = {188, 192, 204};
    // Consecutive packets that must begin with the sync byte before the first of them is accepted.
    static constexpr std::size_t kSyncsToLock = 3;
    static constexpr std::size_t kBufferBytes = 8'192;

    // Takes the packets of 188 bytes at the front of `input` that need not be copied: those of a stream whose packets are found,
    // with no bytes held back. Returns them, back to back, borrowed; empty if feed() has to take what follows.
    Bytes take_whole(Bytes& input);
    // Takes some of `input` and returns how much, at least one byte if there are any. Call next() until it is empty in between.
    std::size_t feed(Bytes input);
    // A packet of 188 bytes, valid until feed() is called.
    std::optional<Bytes> next();
    // Ends the input: the last packets are accepted although no packets follow them.
    void finish() { finished_ = true; }

    std::uint64_t skipped_bytes() const { return skipped_; }
    // Counts losses of synchronisation.
    std::uint64_t resyncs() const { return resyncs_; }
    std::size_t stride() const { return stride_; }  // 0: not found yet

private:
    enum class Found : std::uint8_t { yes, no, unknown };

    bool lock();
    Found packets_at(std::size_t at, std::size_t stride) const;

    std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(kBufferBytes);
    std::size_t size_ = 0;
    std::size_t at_ = 0;  // of the next packet; may be beyond the end
    std::size_t stride_ = 0;
    bool finished_ = false;
    std::uint64_t skipped_ = 0;
    std::uint64_t resyncs_ = 0;
};

}  // namespace live::wire::ts
