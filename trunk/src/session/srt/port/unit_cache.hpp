// UnitCache: the units, of at most seven transport packets each, that were cut last from the logs of one source. Players that are
// up to date cut at the same places, so that all of them send, and keep for retransmission, the same bytes of memory. Dry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"

namespace live::session::srt {

class UnitCache {
public:
    static constexpr std::size_t kUnits = 512;

    // The unit of at most that size that begins at this position of the log with this id; nullptr if it is not kept.
    const Slice* find(std::uint64_t log, std::uint64_t position, std::size_t size_max) const {
        const Entry& entry = entry_at(position);
        const bool is_there = entry.log == log && entry.position == position && !entry.unit.empty();
        return is_there && entry.unit.size() <= size_max ? &entry.unit : nullptr;
    }
    void put(std::uint64_t log, std::uint64_t position, const Slice& unit) {
        entries_[index_of(position)] = {log, position, unit};
    }
    // A round begins when all players are woken. In a round, players that are up to date send up to `end`, the end of the log
    // (with this id) at the first call. Otherwise data that arrives while some are served would become a separate short packet
    // for the others.
    void begin_round() { round_.reset(); }
    std::uint64_t end_of_round(std::uint64_t log, std::uint64_t end) {
        if (!round_ || round_->log != log)
            round_ = Round{log, end};
        return round_->end;
    }
    std::size_t held_bytes() const {
        std::size_t bytes = 0;
        for (const Entry& entry : entries_)
            bytes += entry.unit.size();
        return bytes;
    }

private:
    struct Entry {
        std::uint64_t log = 0;
        std::uint64_t position = 0;
        Slice unit;
    };
    struct Round {
        std::uint64_t log;
        std::uint64_t end;
    };
    // Positions are multiples of a packet's size.
    static std::size_t index_of(std::uint64_t position) { return static_cast<std::size_t>(position / 188 % kUnits); }
    const Entry& entry_at(std::uint64_t position) const { return entries_[index_of(position)]; }

    std::array<Entry, kUnits> entries_;
    std::optional<Round> round_;
};

}  // namespace live::session::srt
