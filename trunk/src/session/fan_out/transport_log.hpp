// TransportLog: the transport stream of one publisher as it arrived, for players that get it unchanged, with all its tracks and
// data: the newest one or two GOPs, copied into slabs. Dry. TransportLogs finds the log of a source.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include <sys/uio.h>

#include "base/bytes/bytes.hpp"
#include "base/bytes/ref.hpp"
#include "media/source/source.hpp"
#include "media/wire_log/slab_log.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::session {

class TransportLog {
public:
    // In bytes from the beginning of the log.
    using Position = std::uint64_t;

    // Pictures that have begun and are not read yet; the oldest are forgotten.
    static constexpr std::size_t kBegunMax = 256;
    // Bytes above kBytesMax are dropped, and those above kBytesKept if they precede the last two entries. Memory has up to two
    // slabs more.
    static constexpr std::size_t kBytesMax = 16U << 20;
    static constexpr std::size_t kBytesKept = 1U << 20;
    // Limit for each of the two tables.
    static constexpr std::size_t kTablePacketsMax = 4;

    explicit TransportLog(media::SlabPool& slabs, std::uint64_t id = 0) : id_(id), bytes_(slabs) {}
    // Differs from that of any other log of the process.
    std::uint64_t id() const { return id_; }

    // Whole packets, which the reader has read already. Anything else spoils the log for good.
    void append(Bytes unit, const wire::ts::TsReader& reader) {
        append_hidden(unit, reader);
        show(unit.size());
    }
    // The same for packets that are not due: players get them, and begin in them, when show() has been called for as many bytes.
    void append_hidden(Bytes unit, const wire::ts::TsReader& reader);
    void show(std::size_t bytes);
    // Call when the reader has read an image: a player may begin there if it is a key frame and packets carry no flag for that.
    // Or when it has read a configuration, for opening().
    void note_video(const wire::codec::Frame& frame);

    // False: the stream does not consist of whole packets, and players get another form of it.
    bool is_whole() const { return !is_spoilt_; }
    Position begin() const { return bytes_.tail(); }
    Position end() const { return shown_; }
    // The newest place where a player may begin: a key frame, or any frame where there is no video.
    std::optional<Position> entry(Position not_before) const;
    // Returns the bytes that a player needs before it begins at this entry: the newest tables, and the parameter sets of H.264
    // and HEVC where the key frame does not begin with them. Some encoders send them once.
    Slice opening(Position entry) const;
    // The bytes of [from, to), within begin() and end(), as SlabLog::spans().
    std::size_t spans(Position from, Position to, std::span<::iovec> out) const { return bytes_.spans(from, to, out); }
    std::size_t held_bytes() const { return bytes_.bytes(); }

private:
    // The first packet of a picture.
    struct Start {
        Position at = 0;
        std::optional<std::uint64_t> pts{};  // in ticks, as in the packet
        std::uint64_t dts = 0;
        std::uint8_t counter = 0;
        bool has_sets = true;
    };
    static constexpr std::uint16_t kNoPid = 0x1FFF;
    // The first tracks that the reader has found.
    struct Tracks {
        std::uint16_t map_pid = kNoPid;
        std::uint16_t lead_pid = kNoPid;                                 // of video; of audio in a stream without video
        wire::ts::StreamFormat video = wire::ts::StreamFormat::unknown;  // unknown: a stream without video
    };
    // A packet of the tables, or the first packet of a picture.
    struct TablePacket {
        bool is_map = false;
        bool begins = false;
    };
    struct Begin {
        Start start;
        bool is_flagged = false;
    };
    // Applied when its position is shown.
    struct Mark {
        Position at = 0;
        std::variant<Tracks, TablePacket, Begin> effect;
    };

    static Tracks tracks_of(const wire::ts::TsReader& reader);
    void mark(Bytes packet, Position at);
    Start start_of(Bytes packet, Position at) const;
    void take(const Mark& mark);
    void take_table(const TablePacket& packet, Position at);
    void take_begin(const Begin& begin);
    void note_sets(const wire::codec::Frame& config);
    void note_picture(const wire::codec::Frame& picture);
    void add_entry(const Start& start);
    void write_sets(const Start& entry, std::vector<std::uint8_t>& out) const;
    void trim();
    bool are_flags_trusted() const { return flags_ > 0 && flags_ <= 2 * (key_frames_ + 2); }

    std::uint64_t id_;
    media::SlabLog bytes_;
    std::deque<Start> entries_;
    Position shown_ = 0;
    std::deque<Mark> marks_;                           // of hidden bytes
    Tracks newest_;                                    // those of the newest bytes, hidden or not
    std::uint32_t version_ = 0;                        // of these
    std::array<std::vector<std::uint8_t>, 2> tables_;  // programs, and the map of the chosen one
    Tracks tracks_;
    std::vector<std::uint8_t> sets_;  // newest, each with a start code
    std::deque<Start> begun_;
    std::uint64_t flags_ = 0;  // packets with the random access indicator
    std::uint64_t key_frames_ = 0;
    bool is_spoilt_ = false;
};

class TransportLogs {
public:
    // The pool outlives this.
    explicit TransportLogs(media::SlabPool& slabs) : slabs_(slabs) {}

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
    media::SlabPool& slabs_;
    std::unordered_map<const media::Source*, const TransportLog*> logs_;
    std::uint64_t last_id_ = 0;
};

}  // namespace live::session
