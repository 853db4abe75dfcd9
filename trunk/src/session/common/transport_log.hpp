// TransportLog: the transport stream of one publisher as it came, for players that get it unchanged, with all its tracks and
// data: the newest one or two GOPs, in units as they arrived. Dry. TransportLogs finds the log of a source.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "base/ref.hpp"
#include "media/source.hpp"
#include "wire/ts/ts_reader.hpp"

namespace live::session {

class TransportLog {
public:
    // In bytes from the beginning of the log.
    using Position = std::uint64_t;

    // Pictures that have begun and are not read yet; the oldest are forgotten.
    static constexpr std::size_t kBegunMax = 256;
    // Older units are dropped above the first, and those before the last two entries above the second.
    static constexpr std::size_t kBytesMax = 16U << 20;
    static constexpr std::size_t kBytesKept = 1U << 20;
    // Of each of both tables.
    static constexpr std::size_t kTablePacketsMax = 4;

    explicit TransportLog(std::uint64_t id = 0) : id_(id) {}
    // Differs from that of any other log of the process.
    std::uint64_t id() const { return id_; }

    // Whole packets, which the reader has read already. Anything else spoils the log for good.
    void append(const Slice& unit, const wire::ts::TsReader& reader);
    // The reader has read a picture: that is where a player may begin, if it is a key frame and packets do not say so themselves.
    void note_picture(const wire::codec::Frame& frame);

    // False: the stream is none of whole packets, and players get another form of it.
    bool is_whole() const { return !is_spoilt_; }
    Position begin() const { return units_.empty() ? end_ : units_.front().begin; }
    Position end() const { return end_; }
    // The newest place where a player may begin: a key frame, or any frame where there is no video.
    std::optional<Position> entry(Position not_before) const;
    // The packets of the newest tables, for a player that begins.
    Slice tables() const;
    // At most so many bytes, of one unit, in whole packets; empty at the end. Not before begin().
    Slice read(Position at, std::size_t bytes_max) const;
    std::size_t held_bytes() const { return held_; }

private:
    struct Unit {
        Position begin = 0;
        Slice bytes;
    };
    struct Begun {
        Position at = 0;
        std::uint64_t dts = 0;  // in ticks, as in the packet
    };
    static constexpr std::uint16_t kNoPid = 0x1FFF;

    void choose_tracks(const wire::ts::TsReader& reader);
    void look_at(Bytes packet, Position at);
    void note_begin(Bytes packet, Position at);
    void add_entry(Position at);
    void trim();
    bool are_flags_trusted() const { return flags_ > 0 && flags_ <= 2 * (key_frames_ + 2); }

    std::uint64_t id_;
    std::deque<Unit> units_;
    std::deque<Position> entries_;
    Position end_ = 0;
    std::size_t held_ = 0;
    std::array<std::vector<std::uint8_t>, 2> tables_;  // programs, and the map of the chosen one
    std::uint32_t version_ = 0;
    std::uint16_t map_pid_ = kNoPid;
    std::uint16_t lead_pid_ = kNoPid;  // of video, or of audio where there is none
    bool has_video_ = false;
    std::deque<Begun> begun_;
    std::uint64_t flags_ = 0;  // packets that say that decoding may begin there
    std::uint64_t key_frames_ = 0;
    bool is_spoilt_ = false;
};

class TransportLogs {
public:
    // The log of a source while it is published by the holder's owner. The newest one of a source is found.
    class Holder {
    public:
        Holder(TransportLogs& logs, Ref<media::Source> source);
        ~Holder();
        Holder(const Holder&) = delete;
        Holder& operator=(const Holder&) = delete;

        TransportLog log;

    private:
        TransportLogs& logs_;
        Ref<media::Source> source_;
    };

    // Valid until the caller suspends; nullptr for a source whose publisher sends something else.
    const TransportLog* find(const media::Source& source) const {
        const auto found = logs_.find(&source);
        return found == logs_.end() ? nullptr : found->second;
    }

private:
    std::unordered_map<const media::Source*, const TransportLog*> logs_;
    std::uint64_t last_id_ = 0;
};

}  // namespace live::session
