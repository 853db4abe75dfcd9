#include "wire/ts/read/ts_reader.hpp"

#include <algorithm>
#include <utility>

#include "wire/ts/crc32.hpp"
#include "wire/ts/packet_writer.hpp"
#include "wire/ts/read/audio_frames.hpp"
#include "wire/ts/read/pes_reader.hpp"
#include "wire/ts/read/video_frames.hpp"

namespace live::wire::ts {

// One elementary stream.
class TsReader::Stream {
public:
    Stream(const ProgramMap::Stream& said, codec::TrackId id)
        : what(said), track(id), audio(said.format, said.opus_channels), video(said.format) {}

    MediaKind kind() const { return kind_of(what.format); }
    std::size_t held_bytes() const { return pes.held_bytes() + audio.held_bytes() + sections.held_bytes(); }
    // Takes the payload of most packets: the next one of a unit that has room for it. False: nothing has changed.
    bool takes_inside(const Packet& packet) {
        if (packet.begins || !counter || packet.counter != (*counter + 1) % 16 || !pes.push_inside(packet.payload))
            return false;
        counter = packet.counter;
        repeated = false;
        return true;
    }
    void drop() {
        pes.drop();
        audio.drop();
        sections.drop();
    }

    ProgramMap::Stream what;
    codec::TrackId track;
    std::optional<std::uint8_t> counter;  // of the latest packet with a payload
    bool repeated = false;                // it has come twice, as it may
    bool has_frames = false;
    std::optional<codec::Frame> config;  // while its frames wait
    PesAssembler pes;
    AudioFrames audio;
    VideoFrames video;
    SectionReader sections;
};

TsReader::TsReader() : TsReader(Options()) {}
TsReader::TsReader(Options options) : options_(options) {}
TsReader::~TsReader() = default;

void TsReader::feed(Bytes input) {
    while (!input.empty()) {
        for (Bytes packets = sync_.take_whole(input); !packets.empty(); packets = packets.subspan(kPacketBytes))
            take(packets.first(kPacketBytes));
        input = input.subspan(sync_.feed(input));
        while (const auto packet = sync_.next())
            take(*packet);
    }
}

void TsReader::finish() {
    sync_.finish();
    while (const auto packet = sync_.next())
        take(*packet);
    for (const auto& stream : streams_)
        end(*stream);
}

std::optional<TsReader::Unit> TsReader::next() {
    if (taken_ < units_.size())
        return std::move(units_[taken_++]);
    units_.clear();
    taken_ = 0;
    return std::nullopt;
}

std::vector<TsReader::TrackInfo> TsReader::tracks() const {
    std::vector<TrackInfo> tracks;
    for (const auto& stream : streams_)
        tracks.push_back({stream->what.pid, stream->what.format, stream->track, stream->what.language});
    return tracks;
}

TsReader::Counters TsReader::counters() const {
    Counters counters = counters_;
    counters.skipped_bytes = sync_.skipped_bytes();
    for (const auto& stream : streams_)
        counters.lost_units += stream->pes.dropped();
    return counters;
}

TsReader::Stream* TsReader::find(std::uint16_t pid) const {
    const auto found = std::ranges::find_if(streams_, [pid](const auto& stream) { return stream->what.pid == pid; });
    return found == streams_.end() ? nullptr : found->get();
}

void TsReader::take(Bytes bytes) {
    constexpr std::uint16_t kAssociationPid = 0;
    ++counters_.packets;
    const auto packet = parse_packet(bytes);
    if (!packet.ok() || packet->damaged) {
        ++counters_.damaged;
        return;
    }
    if (packet->pid == kNoPid)
        return;
    if (packet->pid == kAssociationPid)
        return take_tables(*packet, association_, &TsReader::read_association);
    if (packet->pid == map_pid_)
        return take_tables(*packet, map_, &TsReader::read_map);
    if (Stream* const stream = find(packet->pid))
        take_media(*stream, *packet);
}

// Continuity counters of tables do not matter: what is missing shows in the checksum.
void TsReader::take_tables(const Packet& packet, Table& table, void (TsReader::*read)(Bytes)) {
    if (!packet.has_payload || packet.scrambled)
        return;
    if (packet.begins && !table.known.empty() && std::ranges::equal(packet.payload, table.known))
        return table.sections.drop();
    table.known.clear();
    const std::uint64_t bad_before = counters_.bad_tables;
    table.sections.push(packet.payload, packet.begins, sections_);
    const auto sections = std::exchange(sections_, {});
    for (const auto& section : sections)
        (this->*read)(section);
    // With a pointer field of zero, the payload continues no section of the packets before it.
    const bool is_alone = packet.begins && packet.payload[0] == 0 && sections.size() == 1 && table.sections.is_idle();
    if (is_alone && counters_.bad_tables == bad_before)
        table.known.assign(packet.payload.begin(), packet.payload.end());
}

void TsReader::read_association(Bytes section) {
    const auto read = parse_association(section);
    if (!read.ok()) {
        ++counters_.bad_tables;
        return;
    }
    // The list may have several sections; the first program is in the first.
    if (!read->current || read->programs.empty() || (options_.program == 0 && read->section != 0))
        return;
    const std::uint16_t wanted = options_.program != 0 ? options_.program : program_;
    auto chosen = std::ranges::find(read->programs, wanted, &Association::Program::number);
    if (chosen == read->programs.end() && options_.program != 0)
        return;
    if (chosen == read->programs.end())
        chosen = read->programs.begin();
    if (chosen->number == program_ && chosen->map_pid == map_pid_)
        return;
    if (chosen->number != program_)
        forget_program();
    program_ = chosen->number;
    map_pid_ = chosen->map_pid;
    map_.sections.drop();
    map_.known.clear();
}

void TsReader::forget_program() {
    for (const auto& stream : streams_)
        end(*stream);
    streams_.clear();
    program_map_.reset();
    held_ = 0;
}

void TsReader::read_map(Bytes section) {
    auto read = parse_program_map(section);
    if (!read.ok()) {
        ++counters_.bad_tables;
        return;
    }
    if (!read->current || read->program != program_)
        return;
    if (program_map_ && program_map_->streams == read->streams)
        return;
    program_map_ = *std::move(read);
    auto before = std::exchange(streams_, {});
    std::vector<const ProgramMap::Stream*> fresh;
    for (const ProgramMap::Stream& said : program_map_->streams) {
        const auto known = std::ranges::find_if(before, [&said](const auto& old) { return old && old->what == said; });
        if (known != before.end())
            streams_.push_back(std::move(*known));
        else if (said.format != StreamFormat::unknown && said.pid != kNoPid && said.pid != map_pid_)
            fresh.push_back(&said);
    }
    for (const auto& old : before)
        if (old) {
            end(*old);
            counters_.lost_units += old->pes.dropped();
        }
    for (const ProgramMap::Stream* said : fresh)
        if (const auto id = free_id(kind_of(said->format)); id && find(said->pid) == nullptr)
            streams_.push_back(std::make_unique<Stream>(*said, *id));
    ++version_;
}

// The lowest that no stream of the kind has.
std::optional<codec::TrackId> TsReader::free_id(MediaKind kind) const {
    for (std::size_t i = 0; i < kTracksMax; ++i) {
        const auto id = codec::TrackId(static_cast<std::uint8_t>(i));
        const bool taken = std::ranges::any_of(
            streams_, [kind, id](const auto& stream) { return stream->kind() == kind && stream->track == id; });
        if (!taken)
            return id;
    }
    return std::nullopt;
}

void TsReader::end(Stream& stream) {
    held_ -= stream.held_bytes();
    if (auto unit = stream.pes.finish())
        take_unit(stream, *std::move(unit));
    stream.drop();
}

// A packet may come twice (2.4.3.3).
bool TsReader::is_in_order(Stream& stream, const Packet& packet) {
    const auto before = std::exchange(stream.counter, packet.counter);
    if (packet.discontinuity && before) {
        stream.repeated = false;
        return true;
    }
    if (before == packet.counter && !std::exchange(stream.repeated, true))
        return false;
    stream.repeated = false;
    if (before && packet.counter != (*before + 1) % 16) {
        ++counters_.gaps;
        stream.drop();
    }
    return true;
}

void TsReader::take_media(Stream& stream, const Packet& packet) {
    if (packet.scrambled) {
        ++counters_.scrambled;
        return;
    }
    if (!packet.has_payload)
        return;
    if (stream.takes_inside(packet))
        return;
    held_ -= stream.held_bytes();
    std::optional<PesAssembler::Unit> before;
    std::optional<PesAssembler::Unit> unit;
    if (is_in_order(stream, packet)) {
        if (stream.what.format == StreamFormat::scte35) {
            take_section(stream, packet);
        } else {
            if (packet.begins)
                before = stream.pes.begin();
            unit = stream.pes.push(packet.payload);
        }
    }
    if (held_ + stream.held_bytes() > kHeldBytesMax)
        stream.drop();
    held_ += stream.held_bytes();
    // Frames only from here on: the following unit may contain other bytes.
    for (std::optional<PesAssembler::Unit>* one : {&before, &unit})
        if (*one) {
            held_ -= stream.held_bytes();
            take_unit(stream, std::move(**one));
            held_ += stream.held_bytes();
        }
}

void TsReader::take_section(Stream& stream, const Packet& packet) {
    stream.sections.push(packet.payload, packet.begins, sections_);
    for (const auto& section : std::exchange(sections_, {})) {
        if (crc32_mpeg2(section) != 0) {
            ++counters_.bad_tables;
            continue;
        }
        codec::Frame frame;
        frame.dts = newest_;
        frame.data = Slice::copy_of(section);
        emit(stream, std::move(frame));
    }
}

std::optional<MediaTime> TsReader::place(std::optional<std::uint64_t> ticks) {
    if (!ticks)
        return std::nullopt;
    return time_of(line_.place(*ticks));
}

void TsReader::take_unit(Stream& stream, PesAssembler::Unit unit) {
    const auto start = parse_pes(unit.bytes);
    if (!start.ok()) {
        ++counters_.lost_units;
        return;
    }
    const UnitTimes times{place(start->pts), place(start->dts)};
    const Bytes payload = unit.bytes.subspan(start->header_bytes);
    if (stream.kind() == MediaKind::video) {
        newest_ = times.dts ? *times.dts : times.pts.value_or(newest_);
        if (!stream.video.push(std::move(unit), start->header_bytes, times, frames_).ok())
            ++counters_.lost_units;
    } else if (stream.kind() == MediaKind::audio) {
        counters_.skipped_audio += stream.audio.push(payload, times.pts, frames_);
    } else {
        codec::Frame frame;
        frame.dts = times.pts.value_or(newest_);
        frame.data = unit.slice.sub(start->header_bytes);
        frames_.push_back(std::move(frame));
    }
    for (codec::Frame& frame : frames_)
        emit(stream, std::move(frame));
    frames_.clear();
}

bool TsReader::must_wait(const Stream& stream) {
    if (stream.kind() == MediaKind::data || stream.track == codec::TrackId())
        return false;
    const bool first_is_silent = std::ranges::any_of(streams_, [&stream](const auto& other) {
        return other->kind() == stream.kind() && other->track == codec::TrackId() && !other->has_frames;
    });
    return first_is_silent && ++left_out_ <= kFramesLeftOut;
}

void TsReader::emit(Stream& stream, codec::Frame frame) {
    frame.track = stream.track;
    if (must_wait(stream)) {
        if (frame.content == codec::Content::config)
            stream.config = std::move(frame);
        return;
    }
    stream.has_frames = true;
    if (auto config = std::exchange(stream.config, std::nullopt))
        units_.push_back({stream.kind(), stream.what.format, *std::move(config)});
    units_.push_back({stream.kind(), stream.what.format, std::move(frame)});
}

}  // namespace live::wire::ts
