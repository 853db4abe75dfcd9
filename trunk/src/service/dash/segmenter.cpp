#include "service/dash/segmenter.hpp"

#include <algorithm>
#include <utility>

#include "base/byte_writer.hpp"

namespace live::service::dash {

namespace mp4 = wire::mp4;

namespace {

// A chunk may end this much before its time is full: stamps are whole milliseconds.
constexpr MediaTime kChunkSlack = 5ms;

MediaTime time_of(std::uint64_t ticks, std::uint32_t timescale) {
    // In two steps, so that no product leaves 64 bits.
    constexpr std::uint64_t kMicros = 1'000'000;
    return MediaTime(static_cast<std::int64_t>(ticks / timescale * kMicros + ticks % timescale * kMicros / timescale));
}

io::Block block_of(ByteWriter&& bytes) { return std::make_shared<const std::vector<std::uint8_t>>(bytes.release()); }

}  // namespace

void Segmenter::push(const media::Packet& packet) {
    if (packet.kind == media::Kind::data)
        return;
    const bool is_video = packet.kind == media::Kind::video;
    const auto sample =
        is_video ? reader_.push_video(packet.dts, packet.payload) : reader_.push_audio(packet.dts, packet.payload);
    // What cannot be read is lost; a kind that cannot be carried is known no more, and ends what needs both.
    if (!sample.ok() || !*sample)
        return;
    if (is_video)
        return push_video(**sample);
    if (!begun_ || version_ != reader_.version())
        return;
    bytes_ += (*sample)->data.size();
    if (!of(Track::audio).writer->push(0, **sample).ok())
        end({});
}

void Segmenter::push_video(const mp4::Sample& sample) {
    const bool has_changed = version_ != reader_.version();
    if (begun_ && (has_changed || is_full() || (sample.key && sample.dts - *begun_ >= length_)))
        end(has_changed ? std::nullopt : std::optional(sample.dts));
    else if (begun_ && chunk_ && sample.dts - chunk_start_ >= *chunk_ - kChunkSlack)
        end_chunk(sample.dts);
    if (!begun_ && sample.key && reader_.audio() && reader_.video())
        begin(sample);
    if (!begun_)
        return;
    bytes_ += sample.data.size();
    last_picture_ = sample.dts;
    if (!of(Track::video).writer->push(0, sample).ok())
        end({});
}

void Segmenter::begin(const mp4::Sample& key) {
    version_ = reader_.version();
    const auto& audio = of(Track::audio).writer;
    const auto& video = of(Track::video).writer;
    if (!audio || audio->tracks().front() != *reader_.audio() || video->tracks().front() != *reader_.video())
        renew_headers();
    begun_ = chunk_start_ = key.dts;
    bytes_ = 0;
    told_chunks_ = false;
    for (Writer& writer : writers_) {
        writer.segment = {};
        writer.length = 0;
    }
}

void Segmenter::renew_headers() {
    of(Track::audio).writer.emplace(std::vector{*reader_.audio()});
    of(Track::video).writer.emplace(std::vector{*reader_.video()});
    HeadersMade made;
    for (const Track track : kTracks) {
        const mp4::FragmentWriter& writer = *of(track).writer;
        ByteWriter header;
        writer.write_init(header);
        made.headers[index_of(track)] = {writer.tracks().front(), block_of(std::move(header))};
    }
    made_.emplace_back(std::move(made));
}

io::Block Segmenter::cut(Track track, std::optional<MediaTime> next) {
    Writer& writer = of(track);
    if (writer.writer->empty())
        return nullptr;
    ByteWriter out;
    if (writer.length == 0)
        mp4::write_segment_type(out);
    const bool is_timed = next && track == Track::video;
    writer.writer->cut(out, is_timed ? std::optional(mp4::FragmentWriter::Next{0, *next}) : std::nullopt);
    const auto extent = writer.writer->last_cut(0);
    if (writer.length == 0)
        writer.start = extent.start;
    writer.length = extent.start + extent.length - writer.start;
    io::Block block = block_of(std::move(out));
    writer.segment.bytes += block->size();
    writer.segment.blocks.push_back(block);
    return block;
}

void Segmenter::end_chunk(std::optional<MediaTime> next) {
    ChunkMade chunk;
    chunk.number = number_;
    chunk.begins = !told_chunks_;
    chunk.start = *begun_;
    for (const Track track : kTracks)
        chunk.blocks[index_of(track)] = cut(track, next);
    chunk.end = chunk_start_ = next.value_or(last_picture_);
    if (!chunk_ || std::ranges::all_of(chunk.blocks, [](const io::Block& block) { return block == nullptr; }))
        return;
    told_chunks_ = true;
    made_.emplace_back(std::move(chunk));
}

void Segmenter::end(std::optional<MediaTime> next) {
    end_chunk(next);
    // Both, or the numbers of the two would come apart.
    if (std::ranges::any_of(writers_, [](const Writer& writer) { return writer.segment.blocks.empty(); }))
        return drop();
    SegmentMade made;
    made.number = number_++;
    for (const Track track : kTracks) {
        Writer& writer = of(track);
        const std::uint32_t timescale = writer.writer->tracks().front().timescale;
        writer.segment.start = time_of(writer.start, timescale);
        writer.segment.duration = time_of(writer.start + writer.length, timescale) - writer.segment.start;
        made.tracks[index_of(track)] = std::move(writer.segment);
        writer.segment = {};
    }
    made_.emplace_back(std::move(made));
    begun_.reset();
}

void Segmenter::drop() {
    if (told_chunks_)
        made_.emplace_back(SegmentDropped{number_++});
    for (Writer& writer : writers_) {
        ByteWriter nowhere;
        writer.writer->cut(nowhere);
        writer.segment = {};
    }
    begun_.reset();
}

void Segmenter::finish() {
    if (!begun_)
        return;
    if (last_picture_ - *begun_ < kKeptMin && !told_chunks_)
        drop();
    else
        end({});
}

void Segmenter::restart() {
    finish();
    reader_ = {};
}

}  // namespace live::service::dash
