#include "service/segments/segment_sync.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/bytes/hash.hpp"

namespace live::service::segments {

namespace {

using Splices = media::SplicePoints;

constexpr std::uint64_t kVersion = 1;

class Writer {
public:
    void number(std::uint64_t& value) { text_ += (text_.empty() ? "" : " ") + std::to_string(value); }
    void hash(std::uint64_t& value) { number(value); }
    void expect(std::uint64_t value) { number(value); }
    template <class Small>
    void small(Small& value) {
        auto wide = static_cast<std::uint64_t>(value);
        number(wide);
    }
    // Media time never runs below zero.
    void time(MediaTime& value) {
        auto micros = static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0));
        number(micros);
    }
    void time(std::optional<MediaTime>& value) {
        std::uint64_t plus_one = value ? static_cast<std::uint64_t>(std::max<std::int64_t>(value->count(), 0)) + 1 : 0;
        number(plus_one);
    }
    template <class T, class Each>
    void list(std::vector<T>& values, std::size_t, Each&& each) {
        std::uint64_t count = values.size();
        number(count);
        for (T& value : values)
            each(value);
    }
    // At the end of a text. Nodes of earlier versions write none.
    template <class T, class Each>
    void last_list(std::vector<T>& values, std::size_t most, Each&& each) {
        if (!values.empty())
            list(values, most, each);
    }
    std::string take() { return std::move(text_); }

private:
    std::string text_;
};

// After the first error it returns zeros.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    void hash(std::uint64_t& value) {
        value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc())
            return fail();
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        if (rest_.empty())
            return;
        if (rest_.front() != ' ' || rest_.size() == 1)
            return fail();
        rest_.remove_prefix(1);
    }
    void number(std::uint64_t& value) {
        hash(value);
        if (value > SegmentSync::kNumberMax) {
            value = 0;
            fail();
        }
    }
    void expect(std::uint64_t value) {
        std::uint64_t read = 0;
        number(read);
        if (read != value)
            fail();
    }
    template <class Small>
    void small(Small& value) {
        std::uint64_t wide = 0;
        number(wide);
        const std::uint64_t most = std::is_same_v<Small, bool> || std::is_same_v<Small, MediaKind> ? 1 : 0xFF;
        if (wide > most)
            return fail();
        value = static_cast<Small>(wide);
    }
    void time(MediaTime& value) {
        std::uint64_t micros = 0;
        number(micros);
        value = MediaTime(static_cast<std::int64_t>(micros));
    }
    void time(std::optional<MediaTime>& value) {
        std::uint64_t plus_one = 0;
        number(plus_one);
        value = plus_one == 0 ? std::nullopt : std::optional(MediaTime(static_cast<std::int64_t>(plus_one - 1)));
    }
    template <class T, class Each>
    void list(std::vector<T>& values, std::size_t most, Each&& each) {
        std::uint64_t count = 0;
        number(count);
        if (count > most)
            return fail();
        for (std::uint64_t i = 0; i < count && !failed_; ++i)
            each(values.emplace_back());
    }
    template <class T, class Each>
    void last_list(std::vector<T>& values, std::size_t most, Each&& each) {
        if (!rest_.empty())
            list(values, most, each);
    }
    bool is_whole() const { return !failed_ && rest_.empty(); }

private:
    void fail() {
        failed_ = true;
        rest_ = {};
    }

    std::string_view rest_;
    bool failed_ = false;
};

template <class Io>
void state(Io& io, SegmentState& state) {
    io.number(state.number);
    io.small(state.by_track);
    io.small(state.discontinuity);
    io.small(state.kind);
    io.small(state.track);
    io.time(state.at);
    io.time(state.covered);
    io.time(state.first);
    io.number(state.leader);
    io.list(state.tracks, SegmentSync::kTracksMax, [&io](SegmentState::Track& track) {
        io.small(track.kind);
        io.small(track.id);
        io.small(track.extra);
        io.small(track.seen);
        io.time(track.last);
        io.time(track.step);
        io.time(track.arrived);
    });
    io.list(state.muxers, SegmentSync::kTracksMax,
            [&io](MuxerState& muxer) { io.list(muxer, Muxer::kStateMax, [&io](std::uint64_t& number) { io.number(number); }); });
    io.hash(state.frames_before);
}

template <class Io>
void all(Io& io, SegmentSync& sync) {
    io.expect(kVersion);
    io.hash(sync.rules);
    io.hash(sync.instance);
    bool begins = std::holds_alternative<SegmentState>(sync.event);
    io.small(begins);
    if (begins) {
        if (!std::holds_alternative<SegmentState>(sync.event))
            sync.event = SegmentState();
        state(io, std::get<SegmentState>(sync.event));
    } else {
        if (!std::holds_alternative<SegmentsEnded>(sync.event))
            sync.event = SegmentsEnded();
        io.number(std::get<SegmentsEnded>(sync.event).number);
        io.hash(std::get<SegmentsEnded>(sync.event).frames);
    }
    io.list(sync.list, SegmentSync::kListMax, [&io](std::uint64_t& number) { io.hash(number); });
    if (begins)
        io.last_list(std::get<SegmentState>(sync.event).splices, Splices::kMax, [&io](Splices::Splice& splice) {
            io.time(splice.at);
            io.list(splice.section, Splices::kKeptBytesMax, [&io](std::uint8_t& byte) { io.small(byte); });
        });
}

}  // namespace

std::uint64_t hash_of_init(Bytes bytes) { return std::max<std::uint64_t>(fnv1a(bytes), 1); }

std::string write_segment_sync(const SegmentSync& sync) {
    Writer writer;
    SegmentSync copy = sync;
    all(writer, copy);
    return writer.take();
}

Result<SegmentSync> read_segment_sync(std::string_view text) {
    Reader reader(text);
    SegmentSync sync;
    all(reader, sync);
    if (!reader.is_whole())
        return Error(Errc::malformed, "malformed segment sync message");
    return sync;
}

}  // namespace live::service::segments
