#include "wire/mp4/read/flv_samples.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "wire/flv/audio_tag.hpp"
#include "wire/flv/flv_file.hpp"
#include "wire/flv/video_tag.hpp"
#include "wire/mp4/track_clock.hpp"

namespace live::wire::mp4 {

namespace {

// The head of a tag and that of its body.
constexpr std::size_t kHeadBytes = flv::kTagHeaderBytes + 40;
// Limit for configurations, and for key frames that describe their track.
constexpr std::size_t kBodyBytesMax = 64 << 10;

codec::Content content_of(flv::PacketKind kind) {
    switch (kind) {
        case flv::PacketKind::sequence_header: return codec::Content::config;
        case flv::PacketKind::frames: return codec::Content::frame;
        default: return codec::Content::other;
    }
}

template <class Tag>
void fill(codec::Frame& frame, const Tag& tag) {
    // The places of several tracks in one tag are unknown.
    frame.content = tag.has_more ? codec::Content::other : content_of(tag.kind);
    frame.codec = tag.codec;
    frame.track = codec::TrackId(static_cast<std::uint8_t>(tag.track_id));
    frame.dts += std::chrono::floor<MediaTime>(tag.timestamp_offset);
}

// The ticks from one sample to the next.
std::uint32_t ticks_between(std::uint64_t from, std::uint64_t to) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(to - std::min(from, to), std::numeric_limits<std::int32_t>::max()));
}

}  // namespace

bool FlvSamples::is_in_block(std::uint64_t offset) const {
    const std::uint64_t end = block_.at + block_.bytes.size();
    return offset >= block_.at && offset < end && (end - offset >= kHeadBytes || end >= size_);
}

// Returns the bytes at the beginning of a tag: kHeadBytes, fewer at the end of the file. They are valid up to the next call.
Result<Bytes> FlvSamples::head_at(std::uint64_t offset, const ReadAt& read) {
    if (!is_in_block(offset)) {
        const bool has_many = std::exchange(block_.tags, 0) >= kTagsPerBlock;
        block_.size = has_many ? std::min(block_.size * 2, kBlockBytesMax) : std::max(block_.size / 2, kBlockBytesMin);
        block_.bytes = {};
        block_.bytes = TRY(read(offset, block_.size));
        block_.at = offset;
    }
    ++block_.tags;
    const Bytes rest = Bytes(block_.bytes).subspan(static_cast<std::size_t>(offset - block_.at));
    return rest.first(std::min(rest.size(), kHeadBytes));
}

// Errc::need_more: the file ends before the end of the tag.
Result<FlvSamples::Tag> FlvSamples::tag_at(std::uint64_t offset, const ReadAt& read) {
    ByteReader in(TRY(head_at(offset, read)));
    const flv::TagHeader header = TRY(flv::read_tag_header(in));
    Tag tag;
    tag.bytes = flv::kTagHeaderBytes + std::uint64_t{header.size} + flv::kTagSizeBytes;
    if (tag.bytes > size_ - std::min(size_, offset))
        return Error(Errc::need_more, "a tag that is not complete");
    tag.frame.dts = std::chrono::milliseconds(header.timestamp_ms);
    const Bytes body = in.rest().first(std::min<std::size_t>(in.remaining(), header.size));
    std::size_t head = 0;
    if (header.type == flv::TagType::video) {
        const auto video = flv::parse_video_tag(body);
        if (!video.ok())
            return tag;
        fill(tag.frame, *video);
        tag.frame.key = video->key;
        tag.frame.cts = video->composition;
        tag.kind = MediaKind::video;
        head = body.size() - video->body.size();
    } else if (header.type == flv::TagType::audio) {
        const auto audio = flv::parse_audio_tag(body);
        if (!audio.ok())
            return tag;
        fill(tag.frame, *audio);
        tag.kind = MediaKind::audio;
        head = body.size() - audio->body.size();
    }
    tag.is_script = header.type == flv::TagType::script;
    tag.media_at = offset + flv::kTagHeaderBytes + head;
    tag.media_bytes = header.size - static_cast<std::uint32_t>(head);
    return tag;
}

Result<bool> FlvSamples::prepare(const Wanted& wanted, const ReadAt& read) {
    if (at_ == 0) {
        const auto head = TRY(read(0, flv::kFileHeaderBytes));
        if (head.size() < flv::kFileHeaderBytes || head[0] != 'F' || head[1] != 'L' || head[2] != 'V')
            return Error(Errc::malformed, "no FLV file");
        at_ = MUST(ByteReader(Bytes(head).subspan(5)).u32be()) + flv::kTagSizeBytes;
        header_.bytes = at_;
        if (TRY(prepare_by_index(wanted, read)))
            return true;
    }
    for (std::size_t tags = 0; tags < kTagsPerCall; ++tags) {
        if (TRY(prepare_tag(wanted, read)))
            return true;
        if (!is_in_block(at_))
            break;
    }
    return false;
}

// Returns whether no further tag is needed.
Result<bool> FlvSamples::prepare_tag(const Wanted& wanted, const ReadAt& read) {
    auto tag = tag_at(at_, read);
    if (!tag.ok() && tag.code() == Errc::cancelled)
        return tag.error();
    const bool is_over = !tag.ok() || tag->frame.dts > wanted.end + kFragmentMax;
    if (!is_over) {
        const std::uint64_t bytes = tag->bytes;
        if (tag->kind == MediaKind::video && tag->frame.key && tag->frame.content == codec::Content::frame &&
            tag->frame.dts <= wanted.begin - kReorderMax)
            late_start_ = at_;
        TRY(collect(*std::move(tag), read));
        at_ += bytes;
    }
    if (is_over || formats_.size() == kFormatsMax) {
        size_ = is_over ? size_ : at_;
        finish_prepare();
        return true;
    }
    return false;
}

void FlvSamples::finish_prepare() {
    for (Collected& one : collected_)
        one.reader = {};
    release();
}

Result<std::optional<flv::FileIndex>> FlvSamples::read_index(const ReadAt& read) {
    ByteReader in(TRY(head_at(at_, read)));
    const auto header = flv::read_tag_header(in);
    if (!header.ok() || header->type != flv::TagType::script || header->size > kBodyBytesMax)
        return std::optional<flv::FileIndex>();
    return flv::read_file_index(TRY(read(at_ + flv::kTagHeaderBytes, header->size)), size_);
}

// Returns whether the index has all that is needed; otherwise nothing is collected.
Result<bool> FlvSamples::prepare_by_index(const Wanted& wanted, const ReadAt& read) {
    const auto index = TRY(read_index(read));
    if (!index)
        return false;
    if (TRY(collect_by_index(*index, wanted, read))) {
        finish_prepare();
        return true;
    }
    collected_.clear();
    formats_.clear();
    header_.tracks.clear();
    at_ = header_.bytes;
    late_start_ = 0;
    return false;
}

Result<bool> FlvSamples::collect_by_index(const flv::FileIndex& index, const Wanted& wanted, const ReadAt& read) {
    for (const std::uint64_t position : index.formats) {
        auto tag = tag_at(position, read);
        if (!tag.ok() && tag.code() == Errc::cancelled)
            return tag.error();
        if (!tag.ok() || !tag->kind)
            return false;
        if (tag->frame.dts > wanted.end + kFragmentMax)
            break;
        at_ = position;
        TRY(collect(*std::move(tag), read));
    }
    if (collected_.empty() || !std::ranges::all_of(collected_, [](const Collected& one) { return one.track.has_value(); }))
        return false;
    for (auto key = index.key_frames.rbegin(); key != index.key_frames.rend(); ++key) {
        if (std::chrono::milliseconds(key->ms) > wanted.begin - kReorderMax)
            continue;
        const auto tag = tag_at(key->position, read);
        if (!tag.ok() && tag.code() == Errc::cancelled)
            return tag.error();
        const bool is_there = tag.ok() && tag->kind == MediaKind::video && tag->frame.key &&
                              tag->frame.content == codec::Content::frame &&
                              tag->frame.dts - std::chrono::milliseconds(key->ms) < std::chrono::milliseconds(1);
        late_start_ = is_there ? key->position : 0;
        return is_there;
    }
    return true;
}

// Each of several video tracks has key frames of its own.
std::uint64_t FlvSamples::late_start() const {
    return std::ranges::count(header_.tracks, MediaKind::video, &FragmentedTrack::kind) == 1 ? late_start_ : 0;
}

FlvSamples::Collected* FlvSamples::collected_of(const Tag& tag) {
    const auto known = std::ranges::find_if(
        collected_, [&tag](const Collected& one) { return one.kind == tag.kind && one.id == tag.frame.track; });
    if (known != collected_.end())
        return &*known;
    if (collected_.size() == FragmentedHeader::kTracksMax)
        return nullptr;
    collected_.push_back({.kind = *tag.kind, .id = tag.frame.track, .reader = {}, .version = 0, .track = {}});
    return &collected_.back();
}

// A configuration that cannot be read costs the frames of its track only.
Result<void> FlvSamples::collect(Tag tag, const ReadAt& read) {
    if (!tag.kind || tag.frame.content == codec::Content::other)
        return {};
    Collected* const from = collected_of(tag);
    if (from == nullptr)
        return {};
    const bool is_video = from->kind == MediaKind::video;
    const bool is_known = (is_video ? from->reader.video() : from->reader.audio()).has_value();
    if (tag.frame.content == codec::Content::frame && (is_known || (is_video && !tag.frame.key)))
        return {};
    const std::size_t count = std::min<std::size_t>(tag.media_bytes, kBodyBytesMax);
    tag.frame.data = Slice::copy_of(TRY(read(tag.media_at, count)));
    const codec::Codec codec = tag.frame.codec;
    static_cast<void>(is_video ? from->reader.push_video(tag.frame) : from->reader.push_audio(tag.frame));
    const auto& format = is_video ? from->reader.video() : from->reader.audio();
    if (format && from->reader.version() != std::exchange(from->version, from->reader.version()))
        note_format(*from, *format, codec);
    return {};
}

void FlvSamples::note_format(Collected& from, const TrackFormat& format, codec::Codec codec) {
    if (!from.track) {
        from.track = header_.tracks.size();
        header_.tracks.push_back({.id = static_cast<std::uint32_t>(header_.tracks.size() + 1),
                                  .kind = format.kind,
                                  .timescale = format.timescale,
                                  .width = format.width,
                                  .height = format.height});
    }
    FragmentedTrack& track = header_.tracks[*from.track];
    const auto known = std::ranges::find(track.sample_entries, format.sample_entry);
    const auto entry = static_cast<std::uint32_t>(known - track.sample_entries.begin());
    if (known == track.sample_entries.end())
        track.sample_entries.push_back(format.sample_entry);
    const std::uint64_t ticks = std::uint64_t{format.sample_ticks} * track.timescale / std::max(format.timescale, 1U);
    formats_.push_back(
        {.offset = at_, .track = *from.track, .entry = entry, .sample_ticks = static_cast<std::uint32_t>(ticks), .codec = codec});
}

// The newest one of the tag's track; nullptr for frames that cannot be decoded by it.
const FlvSamples::Format* FlvSamples::format_of(const Tag& tag, std::uint64_t offset) const {
    if (!tag.kind || tag.frame.content != codec::Content::frame || tag.media_bytes == 0)
        return nullptr;
    const auto track = std::ranges::find_if(
        collected_, [&tag](const Collected& one) { return one.kind == tag.kind && one.id == tag.frame.track; });
    if (track == collected_.end() || !track->track)
        return nullptr;
    for (auto format = formats_.rbegin(); format != formats_.rend(); ++format)
        if (format->track == *track->track && format->offset <= offset)
            return format->codec == tag.frame.codec ? &*format : nullptr;
    return nullptr;
}

bool FlvSamples::has_format_at(std::uint64_t offset) const {
    return std::ranges::binary_search(formats_, offset, {}, &Format::offset);
}

void FlvSamples::push(const Tag& tag, const Format& format, Fragment& fragment) const {
    const std::uint32_t timescale = header_.tracks[format.track].timescale;
    auto& samples = fragment.samples[format.track];
    TrackClock clock(timescale, format.sample_ticks);
    if (!samples.empty())
        clock.restore(samples.back().tick);
    FragmentSample sample;
    sample.tick = clock.peek(tag.frame.dts);
    if (!samples.empty())
        samples.back().ticks = ticks_between(samples.back().tick, sample.tick);
    // Until the next one is known, it lasts as long as the one before it.
    constexpr std::uint32_t kLonePart = 25;
    sample.ticks = format.sample_ticks > 0 ? format.sample_ticks : samples.empty() ? timescale / kLonePart : samples.back().ticks;
    sample.composition = static_cast<std::int32_t>(clock.distance({}, tag.frame.cts));
    sample.bytes = tag.media_bytes;
    sample.offset = tag.media_at;
    sample.key = tag.frame.key || tag.kind == MediaKind::audio;
    samples.push_back(sample);
    fragment.entries[format.track] = format.entry;
}

Result<void> FlvSamples::read(std::uint64_t offset, const ReadAt& read, Fragment& fragment) {
    fragment.clear(header_.tracks.size());
    fragment.events = offset;
    fragment.offset = offset;
    const auto first_video = std::ranges::find(header_.tracks, MediaKind::video, &FragmentedTrack::kind);
    const auto anchor = first_video == header_.tracks.end() ? 0 : static_cast<std::size_t>(first_video - header_.tracks.begin());
    std::optional<MediaTime> begun;
    MediaTime shown = MediaTime::min();
    std::uint64_t at = offset;
    for (std::size_t tags = 0; tags < kTagsPerFragment && !(begun && has_format_at(at)); ++tags) {
        const auto tag = tag_at(at, read);
        if (!tag.ok() && (tags == 0 || tag.code() == Errc::cancelled))
            return tag.error();
        if (!tag.ok())
            break;
        if (tag->is_script && tag->media_bytes <= Fragment::Script::kBytesMax && fragment.scripts.size() < Fragment::Script::kMax)
            fragment.scripts.push_back({tag->frame.dts, tag->media_at, tag->media_bytes});
        const Format* const format = format_of(*tag, at);
        if (format != nullptr) {
            const codec::Frame& frame = tag->frame;
            const MediaTime length = frame.dts - begun.value_or(frame.dts);
            const bool is_anchor = format->track == anchor;
            auto& samples = fragment.samples[anchor];
            const bool is_key = frame.key && tag->kind == MediaKind::video && !samples.empty();
            if (is_anchor && (is_key || length >= kFragmentMax || (length >= kFragment && frame.dts + frame.cts > shown))) {
                const TrackClock clock(header_.tracks[anchor].timescale, 0);
                if (!samples.empty() && format->sample_ticks == 0)
                    samples.back().ticks = std::max(ticks_between(samples.back().tick, clock.ticks_of(frame.dts)), 1U);
                break;
            }
            if (length >= 2 * kFragmentMax)
                break;
            begun = begun.value_or(frame.dts);
            shown = is_anchor ? std::max(shown, frame.dts + frame.cts) : shown;
            push(*tag, *format, fragment);
        }
        at += tag->bytes;
    }
    fragment.bytes = at - offset;
    return {};
}

}  // namespace live::wire::mp4
