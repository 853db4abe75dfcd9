#include "wire/ps/ps_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/codec/video/start_code.hpp"
#include "wire/ps/codec_guess.hpp"
#include "wire/ts/read/audio_frames.hpp"
#include "wire/ts/read/video_frames.hpp"

namespace live::wire::ps {

namespace {

constexpr std::uint8_t kProgramEnd = 0xB9;
constexpr std::uint8_t kPack = 0xBA;
constexpr std::uint8_t kMap = 0xBC;
constexpr std::uint8_t kPrivate = 0xBD;
constexpr std::size_t kStartBytes = 4;
constexpr std::size_t kPrefixBytes = 6;  // of a PES packet: start code, stream id, length
constexpr std::uint32_t kG711Rate = 8'000;

bool is_video_id(std::uint8_t id) { return id >= 0xE0 && id <= 0xEF; }
bool is_audio_id(std::uint8_t id) { return id >= 0xC0 && id <= 0xDF; }

MediaKind kind_of(StreamFormat format) {
    switch (format) {
        case StreamFormat::avc:
        case StreamFormat::hevc: return MediaKind::video;
        case StreamFormat::aac:
        case StreamFormat::latm:
        case StreamFormat::mpeg_audio:
        case StreamFormat::g711a:
        case StreamFormat::g711u: return MediaKind::audio;
        default: return MediaKind::data;
    }
}

bool is_g711(StreamFormat format) { return format == StreamFormat::g711a || format == StreamFormat::g711u; }

ts::StreamFormat in_ts(StreamFormat format) {
    switch (format) {
        case StreamFormat::avc: return ts::StreamFormat::avc;
        case StreamFormat::hevc: return ts::StreamFormat::hevc;
        case StreamFormat::aac: return ts::StreamFormat::aac;
        case StreamFormat::latm: return ts::StreamFormat::latm;
        case StreamFormat::mpeg_audio: return ts::StreamFormat::mpeg_audio;
        default: return ts::StreamFormat::unknown;
    }
}

bool begins_with_start_code(Bytes input) {
    return input.size() >= kStartBytes && input[0] == 0 && input[1] == 0 && input[2] == 1 && input[3] >= kProgramEnd;
}

// The start code of a pack, a map or a PES packet. NAL units of H.264 and HEVC have a zero bit after their start code, so that
// video contains none of these.
std::size_t find_system_start(Bytes input, std::size_t from) {
    std::size_t at = codec::find_start_code(input, from);
    while (at + 3 < input.size() && input[at + 3] < kProgramEnd)
        at = codec::find_start_code(input, at + codec::kStartCodePrefixBytes);
    return at;
}

// MPEG-2 (table 2-39) or MPEG-1. Returns 0 if more bytes are needed, none if it is no pack header.
std::optional<std::size_t> pack_bytes(Bytes input) {
    constexpr std::size_t kMpeg1Bytes = 12;
    constexpr std::size_t kMpeg2Bytes = 14;
    if (input.size() < kStartBytes + 1)
        return 0;
    if (input[4] >> 4 == 2)
        return input.size() < kMpeg1Bytes ? 0 : kMpeg1Bytes;
    if (input[4] >> 6 != 1)
        return std::nullopt;
    if (input.size() < kMpeg2Bytes)
        return 0;
    const std::size_t bytes = kMpeg2Bytes + (input[13] & 7U);
    return input.size() < bytes ? 0 : bytes;
}

// A device that restarts sends the next pack in the middle of a packet, whose length then covers a part of that pack. Returns
// where the pack begins.
std::optional<std::size_t> cut_at(Bytes input, std::size_t packet_bytes) {
    const Bytes following = input.subspan(packet_bytes);
    if (!is_video_id(input[3]) && (following.size() < kStartBytes || begins_with_start_code(following)))
        return std::nullopt;
    const Bytes searched = input.first(packet_bytes + std::min(following.size(), kStartBytes - 1));
    for (std::size_t at = find_system_start(searched, kStartBytes); at + 3 < searched.size();
         at = find_system_start(searched, at + codec::kStartCodePrefixBytes))
        if (at < packet_bytes && input[at + 3] == kPack && pack_bytes(input.subspan(at)))
            return at;
    return std::nullopt;
}

}  // namespace

// One elementary stream.
class PsReader::Stream {
public:
    Stream(std::uint8_t stream_id, MediaKind stream_kind, codec::TrackId track_id)
        : id(stream_id), kind(stream_kind), track(track_id) {}

    std::size_t held_bytes() const { return pes.held_bytes() + (audio == nullptr ? 0 : audio->held_bytes()); }

    const std::uint8_t id;
    const MediaKind kind;
    const codec::TrackId track;
    StreamFormat format = StreamFormat::unknown;
    // Video: the image that has begun.
    ts::PesAssembler pes;
    bool is_open = false;
    bool is_marked = false;
    std::optional<std::uint64_t> pts;  // of the newest image
    std::unique_ptr<ts::VideoFrames> video;
    // Audio.
    std::unique_ptr<ts::AudioFrames> audio;
    unsigned unknown = 0;                 // packets of no known codec
    int law_balance = 0;                  // of those
    std::optional<StreamFormat> instead;  // what the previous packet looked like, if that is not the format
    std::optional<MediaTime> begin;       // of the G.711 samples counted
    std::uint64_t samples = 0;
};

PsReader::PsReader() = default;
PsReader::~PsReader() = default;

void PsReader::feed(Bytes input) {
    if (buffer_.empty()) {
        const Bytes rest = input.subspan(parse(input));
        buffer_.assign(rest.begin(), rest.end());
        return;
    }
    buffer_.insert(buffer_.end(), input.begin(), input.end());
    const auto done = static_cast<std::ptrdiff_t>(parse(buffer_));
    buffer_.erase(buffer_.begin(), buffer_.begin() + done);
}

PsReader::Read PsReader::parse(Bytes input) {
    std::size_t at = 0;
    while (at < input.size()) {
        if (!synced_) {
            at += resync(input.subspan(at));
            if (!synced_)
                break;
        }
        const Read read = take_one(input.subspan(at));
        at += read;
        if (read == 0 && synced_)
            break;
    }
    return at;
}

// Skips to the next pack. The last bytes may be the beginning of its start code.
PsReader::Read PsReader::resync(Bytes input) {
    std::size_t at = find_system_start(input, 0);
    while (at + 3 < input.size() && input[at + 3] != kPack)
        at = find_system_start(input, at + codec::kStartCodePrefixBytes);
    synced_ = at + 3 < input.size();
    if (!synced_)
        at = std::min(at, input.size() - std::min(input.size(), kStartBytes - 1));
    counters_.skipped_bytes += at;
    return at;
}

PsReader::Read PsReader::take_one(Bytes input) {
    if (input.size() < kStartBytes)
        return 0;
    if (!begins_with_start_code(input)) {
        synced_ = false;
        ++counters_.resyncs;
        return 0;
    }
    const std::uint8_t id = input[3];
    if (id == kProgramEnd)
        return kStartBytes;
    if (id == kPack)
        return take_pack(input);
    if (input.size() < kPrefixBytes)
        return 0;
    const std::size_t bytes = kPrefixBytes + (std::size_t{input[4]} << 8 | input[5]);
    if (bytes == kPrefixBytes && is_video_id(id))
        return take_unbounded(input);
    if (input.size() < bytes)
        return 0;
    return take_sized(input, bytes);
}

PsReader::Read PsReader::take_sized(Bytes input, std::size_t packet_bytes) {
    const Bytes packet = input.first(packet_bytes);
    const std::uint8_t id = packet[3];
    const bool is_media = id == kPrivate || is_audio_id(id) || is_video_id(id);
    if (const auto cut = cut_at(input, packet_bytes)) {
        ++counters_.resyncs;
        counters_.skipped_bytes += *cut;
        if (is_media)
            lose_packet(packet);
        return *cut;
    }
    if (id == kMap)
        take_map(packet);
    else if (is_media)
        take_packet(packet);
    return packet_bytes;
}

PsReader::Read PsReader::take_pack(Bytes input) {
    const auto bytes = pack_bytes(input);
    if (!bytes) {
        synced_ = false;
        ++counters_.resyncs;
        counters_.skipped_bytes += kStartBytes;
        return kStartBytes;
    }
    if (*bytes > 0)
        ++counters_.packs;
    return *bytes;
}

void PsReader::take_map(Bytes input) {
    auto map = parse_program_map(input);
    const bool is_valid = map.ok() && map->has_checksum;
    if (!is_valid)
        ++counters_.bad_maps;
    // One with a wrong checksum is better than none.
    if (!map.ok() || !map->current || (has_checked_map_ && !is_valid) || map->streams == map_)
        return;
    has_checked_map_ = is_valid;
    map_ = std::move(map->streams);
    for (const auto& stream : streams_)
        if (const StreamFormat format = mapped(stream->id); kind_of(format) == stream->kind && format != stream->format)
            set_format(*stream, format);
}

// The image before is complete if this packet begins another one.
void PsReader::lose_packet(Bytes pes) {
    ++counters_.lost_units;
    Stream* const stream = find_or_add(pes[3]);
    const auto start = ts::parse_pes(pes);
    if (stream == nullptr)
        return;
    if (stream->is_open && start.ok() && start->pts && start->pts != stream->pts)
        end_image(*stream);
    drop(*stream);
}

// Video whose packet has no length ends where anything else begins.
PsReader::Read PsReader::take_unbounded(Bytes input) {
    const std::size_t end = find_system_start(input, std::max(searched_, kStartBytes));
    if (end + 3 < input.size()) {
        searched_ = 0;
        take_packet(input.first(end));
        return end;
    }
    if (input.size() <= kUnitBytesMax) {
        searched_ = std::max(input.size(), kPrefixBytes + 3) - 3;
        return 0;
    }
    searched_ = 0;
    synced_ = false;
    ++counters_.resyncs;
    ++counters_.lost_units;
    counters_.skipped_bytes += kStartBytes;
    return kStartBytes;
}

void PsReader::take_packet(Bytes pes) {
    Stream* const stream = find_or_add(pes[3]);
    if (stream == nullptr) {
        ++counters_.left_out;
        return;
    }
    const auto start = ts::parse_pes(pes);
    if (!start.ok()) {
        ++counters_.lost_units;
        return;
    }
    if (stream->kind == MediaKind::video)
        take_video(*stream, pes, *start);
    else
        take_audio(*stream, pes.subspan(start->header_bytes), place(start->pts));
}

void PsReader::take_video(Stream& stream, Bytes pes, const ts::PesStart& start) {
    constexpr std::size_t kIdAt = 3;
    const bool continues = !start.pts || start.pts == stream.pts;
    if (stream.is_open && !continues) {
        good_marks_ = stream.is_marked ? good_marks_ + 1 : 0;
        end_image(stream);
    } else if (continues && stream.is_marked) {
        marks_are_useless_ = true;
    }
    if (stream.is_open) {
        stream.pes.push(pes.subspan(start.header_bytes));
    } else if (!start.pts) {
        ++counters_.lost_units;  // the rest of an image whose beginning is missing
        return;
    } else {
        std::array<std::uint8_t, kPrefixBytes> prefix = {0, 0, 1, 0, 0, 0};  // of unknown length
        prefix[kIdAt] = pes[kIdAt];
        stream.pes.begin();
        stream.pes.push(prefix);
        stream.pes.push(pes.subspan(kPrefixBytes));
        stream.is_open = true;
        stream.is_marked = false;
        stream.pts = start.pts;
    }
    if (held_bytes() > kHeldBytesMax)
        drop(stream);
}

void PsReader::mark() {
    for (const auto& stream : streams_) {
        if (!stream->is_open)
            continue;
        marks_are_useless_ = marks_are_useless_ || !buffer_.empty();
        stream->is_marked = true;
        if (!marks_are_useless_ && good_marks_ >= kMarksToTrust)
            end_image(*stream);
    }
}

void PsReader::end_image(Stream& stream) {
    stream.is_open = false;
    auto unit = stream.pes.finish();
    if (!unit)
        return;  // it was too long, and is counted
    const auto start = ts::parse_pes(unit->bytes);
    if (!start.ok()) {
        ++counters_.lost_units;
        return;
    }
    const Bytes image = Bytes(unit->bytes).subspan(start->header_bytes);
    if (const auto format = guess_video(image); format && format != stream.format)
        set_format(stream, *format);
    if (stream.video == nullptr)
        return;  // before its first parameter sets
    const ts::UnitTimes times{place(start->pts), place(start->dts)};
    if (!stream.video->push(*std::move(unit), start->header_bytes, times, frames_).ok())
        ++counters_.lost_units;
    emit(stream);
}

// Reports whether the codec of the audio is known. One packet does not overrule the map.
bool PsReader::settle_audio(Stream& stream, Bytes payload) {
    const auto guess = guess_audio(payload);
    if (guess && guess != stream.format) {
        if (stream.format != StreamFormat::unknown && std::exchange(stream.instead, guess) != guess)
            return false;
        set_format(stream, *guess);
    }
    stream.instead.reset();
    if (stream.format == StreamFormat::unknown) {
        stream.law_balance += law_balance(payload);
        if (++stream.unknown >= kUnknownAudioMax)
            set_format(stream, stream.law_balance > 0 ? StreamFormat::g711u : StreamFormat::g711a);
    }
    return stream.format != StreamFormat::unknown;
}

void PsReader::take_audio(Stream& stream, Bytes payload, std::optional<MediaTime> pts) {
    if (stream.format == StreamFormat::unknown && mapped(stream.id) == StreamFormat::other) {
        ++counters_.left_out;
        return;
    }
    if (!settle_audio(stream, payload))
        return;
    if (is_g711(stream.format))
        take_g711(stream, payload, pts);
    else
        counters_.skipped_audio += stream.audio->push(payload, pts, frames_);
    emit(stream);
}

void PsReader::take_g711(Stream& stream, Bytes payload, std::optional<MediaTime> pts) {
    constexpr std::uint64_t kMicrosPerSample = 1'000'000 / kG711Rate;
    if (pts) {
        stream.begin = pts;
        stream.samples = 0;
    }
    if (!stream.begin)
        return;
    const auto codec = stream.format == StreamFormat::g711a ? codec::Codec::g711a : codec::Codec::g711u;
    for (; !payload.empty(); payload = payload.subspan(std::min(payload.size(), kG711FrameBytesMax))) {
        const Bytes part = payload.first(std::min(payload.size(), kG711FrameBytesMax));
        const auto passed = MediaTime(static_cast<std::int64_t>(stream.samples * kMicrosPerSample));
        frames_.push_back({.codec = codec, .dts = *stream.begin + passed, .data = Slice::copy_of(part)});
        stream.samples += part.size();
    }
}

void PsReader::drop(Stream& stream) {
    stream.pes.drop();
    stream.is_open = false;
    if (stream.audio != nullptr)
        stream.audio->drop();
}

void PsReader::lose() {
    buffer_.clear();
    searched_ = 0;
    if (synced_)
        ++counters_.resyncs;
    synced_ = false;
    for (const auto& stream : streams_)
        drop(*stream);
}

void PsReader::finish() {
    if (searched_ > 0 && synced_ && buffer_.size() > kPrefixBytes)
        take_packet(buffer_);
    buffer_.clear();
    searched_ = 0;
    synced_ = false;
    for (const auto& stream : streams_)
        if (stream->is_open)
            end_image(*stream);
}

std::optional<PsReader::Unit> PsReader::next() {
    if (taken_ < units_.size())
        return std::move(units_[taken_++]);
    units_.clear();
    taken_ = 0;
    return std::nullopt;
}

StreamFormat PsReader::mapped(std::uint8_t id) const {
    const auto found = std::ranges::find(map_, id, &ProgramMap::Stream::id);
    return found == map_.end() ? StreamFormat::unknown : format_of(found->type);
}

// Private packets are media only if the map lists them as media.
PsReader::Stream* PsReader::find_or_add(std::uint8_t id) {
    const auto found = std::ranges::find_if(streams_, [id](const auto& stream) { return stream->id == id; });
    if (found != streams_.end())
        return found->get();
    const StreamFormat format = mapped(id);
    const MediaKind kind = is_video_id(id) ? MediaKind::video : is_audio_id(id) ? MediaKind::audio : kind_of(format);
    if (streams_.size() >= kStreamsMax || kind == MediaKind::data)
        return nullptr;
    const auto of_kind = std::ranges::count_if(streams_, [kind](const auto& stream) { return stream->kind == kind; });
    streams_.push_back(std::make_unique<Stream>(id, kind, codec::TrackId(static_cast<std::uint8_t>(of_kind))));
    if (kind_of(format) == kind)
        set_format(*streams_.back(), format);
    return streams_.back().get();
}

void PsReader::set_format(Stream& stream, StreamFormat format) {
    stream.format = format;
    stream.video = stream.kind == MediaKind::video ? std::make_unique<ts::VideoFrames>(in_ts(format)) : nullptr;
    const bool has_headers = stream.kind == MediaKind::audio && !is_g711(format);
    stream.audio = has_headers ? std::make_unique<ts::AudioFrames>(in_ts(format), std::uint8_t{0}) : nullptr;
    ++version_;
}

void PsReader::emit(Stream& stream) {
    for (codec::Frame& frame : frames_) {
        frame.track = stream.track;
        units_.push_back({stream.kind, stream.format, std::move(frame)});
    }
    frames_.clear();
}

std::optional<MediaTime> PsReader::place(std::optional<std::uint64_t> ticks) {
    if (!ticks)
        return std::nullopt;
    return ts::time_of(line_.place(*ticks));
}

std::vector<PsReader::TrackInfo> PsReader::tracks() const {
    std::vector<TrackInfo> tracks;
    for (const auto& stream : streams_)
        if (stream->format != StreamFormat::unknown)
            tracks.push_back({stream->id, stream->kind, stream->format, stream->track});
    return tracks;
}

PsReader::Counters PsReader::counters() const {
    Counters counters = counters_;
    for (const auto& stream : streams_)
        counters.lost_units += stream->pes.dropped();
    return counters;
}

std::size_t PsReader::held_bytes() const {
    std::size_t held = buffer_.size();
    for (const auto& stream : streams_)
        held += stream->held_bytes();
    return held;
}

}  // namespace live::wire::ps
