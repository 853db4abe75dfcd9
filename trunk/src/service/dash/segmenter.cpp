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

Block block_of(ByteWriter&& bytes) { return std::make_shared<const std::vector<std::uint8_t>>(bytes.release()); }

}  // namespace

void Segmenter::push(const media::Packet& packet) {
    if (packet.kind == media::Kind::data)
        return;
    const Track track = packet.kind == media::Kind::video ? Track::video : Track::audio;
    const auto sample = track == Track::video ? reader_.push_video(frame_of(packet)) : reader_.push_audio(frame_of(packet));
    // What cannot be read is lost; a kind that cannot be carried is known no more, and the stream goes on without it.
    if (!sample.ok() || !*sample)
        return;
    seen_[index_of(track)] = packet.dts;
    first_ = first_.value_or(packet.dts);
    push_sample(track, **sample);
}

void Segmenter::push_sample(Track track, const mp4::Sample& sample) {
    if (begun_ && track == leader_)
        lead(sample);
    else if (begun_ && track == Track::video && sample.key)
        end({});  // video joins audio, and leads from here on
    else if (begun_ && track == Track::audio && sample.dts - last_ >= length_ + kSilence)
        end({});  // the video has stopped
    if (!begun_ && can_begin(track, sample))
        begin(track, sample);
    Writer& writer = of(track);
    if (!begun_ || !writer.writer || !is_current(track))
        return;
    if (writer.writer->bytes() >= mp4::FragmentWriter::kLiveBytes && chunk_)
        end_chunk(sample.dts);
    else if (writer.writer->bytes() >= mp4::FragmentWriter::kLiveBytes)
        cut(track, sample.dts);
    bytes_ += sample.data.size();
    if (track == leader_)
        last_ = sample.dts;
    if (!writer.writer->push(0, sample).ok())
        end({});
}

// Where a segment or a chunk ends, by the next frame of the leader.
void Segmenter::lead(const mp4::Sample& sample) {
    const bool has_changed = std::ranges::any_of(kTracks, [this](Track one) { return of(one).writer && !is_current(one); });
    const bool has_come = !of(Track::audio).writer && is_there(Track::audio, sample.dts);
    if (has_changed || is_full() || (sample.key && (has_come || sample.dts - *begun_ >= length_)))
        end(has_changed ? std::nullopt : std::optional(sample.dts));
    else if (chunk_ && sample.dts - chunk_start_ >= *chunk_ - kChunkSlack)
        end_chunk(sample.dts);
}

// One that has a configuration may take that long for its first frame.
bool Segmenter::is_there(Track track, MediaTime now) const {
    return format(track) && now - seen_[index_of(track)].value_or(*first_) < kSilence;
}

// The track's format is still that of its header.
bool Segmenter::is_current(Track track) const {
    const auto& writer = writers_[index_of(track)].writer;
    return version_ == reader_.version() || (writer && writer->tracks().front() == format(track));
}

bool Segmenter::can_begin(Track track, const mp4::Sample& sample) const {
    if (!sample.key || !format(track) || (track == Track::audio && is_there(Track::video, sample.dts)))
        return false;
    const Track other = track == Track::video ? Track::audio : Track::video;
    return is_there(other, sample.dts) || sample.dts - *first_ >= kSilence;
}

void Segmenter::begin(Track track, const mp4::Sample& sample) {
    version_ = reader_.version();
    leader_ = track;
    const bool is_same = std::ranges::all_of(kTracks, [this, &sample](Track one) {
        const auto& writer = of(one).writer;
        return writer.has_value() == is_there(one, sample.dts) && (!writer || writer->tracks().front() == format(one));
    });
    if (!is_same)
        renew_writers(sample.dts);
    begun_ = chunk_start_ = last_ = sample.dts;
    bytes_ = 0;
    told_chunks_ = false;
    for (Writer& writer : writers_) {
        writer.segment = {};
        writer.length = 0;
    }
}

void Segmenter::renew_writers(MediaTime now) {
    for (const Track track : kTracks) {
        auto& writer = of(track).writer;
        writer.reset();
        if (is_there(track, now))
            writer.emplace(std::vector{*format(track)});
    }
    report_headers();
}

void Segmenter::report_headers() {
    HeadersMade made;
    for (const Track track : kTracks) {
        const auto& writer = of(track).writer;
        if (!writer)
            continue;
        ByteWriter header;
        writer->write_init(header);
        made.headers[index_of(track)] = Header{writer->tracks().front(), block_of(std::move(header))};
    }
    made_.emplace_back(std::move(made));
}

Block Segmenter::cut(Track track, std::optional<MediaTime> next) {
    Writer& writer = of(track);
    if (!writer.writer || writer.writer->empty())
        return nullptr;
    ByteWriter out;
    if (writer.length == 0)
        mp4::write_segment_type(out);
    const bool is_timed = next && track == leader_;
    writer.writer->cut(out, is_timed ? std::optional(mp4::FragmentWriter::Next{0, *next}) : std::nullopt);
    const auto extent = writer.writer->last_cut(0);
    if (writer.length == 0)
        writer.start = extent.start;
    writer.length = extent.start + extent.length - writer.start;
    Block block = block_of(std::move(out));
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
    chunk.end = chunk_start_ = next.value_or(last_);
    if (!chunk_ || std::ranges::all_of(chunk.blocks, [](const Block& block) { return block == nullptr; }))
        return;
    told_chunks_ = true;
    made_.emplace_back(std::move(chunk));
}

void Segmenter::end(std::optional<MediaTime> next) {
    end_chunk(next);
    const auto lacks = [](const Writer& writer) { return writer.writer && writer.segment.blocks.empty(); };
    if (std::ranges::any_of(writers_, lacks)) {
        // Players have been told of both already. Else it is a segment of the kind that has come.
        if (told_chunks_ || std::ranges::all_of(writers_, [](const Writer& writer) { return writer.segment.blocks.empty(); }))
            return drop();
        for (Writer& writer : writers_)
            if (lacks(writer))
                writer.writer.reset();
        report_headers();
    }
    SegmentMade made;
    made.number = number_++;
    for (const Track track : kTracks) {
        Writer& writer = of(track);
        if (!writer.writer)
            continue;
        const std::uint32_t timescale = writer.writer->tracks().front().timescale;
        writer.segment.start = time_of(writer.start, timescale);
        writer.segment.duration = time_of(writer.start + writer.length, timescale) - writer.segment.start;
        made.tracks[index_of(track)] = std::exchange(writer.segment, {});
    }
    made_.emplace_back(std::move(made));
    begun_.reset();
}

void Segmenter::drop() {
    if (told_chunks_)
        made_.emplace_back(SegmentDropped{number_++});
    for (Writer& writer : writers_) {
        ByteWriter nowhere;
        if (writer.writer)
            writer.writer->cut(nowhere);
        writer.segment = {};
    }
    begun_.reset();
}

void Segmenter::finish() {
    if (!begun_)
        return;
    if (last_ - *begun_ < kKeptMin && !told_chunks_)
        drop();
    else
        end({});
}

void Segmenter::restart() {
    finish();
    reader_ = {};
    seen_ = {};
    first_.reset();
}

}  // namespace live::service::dash
