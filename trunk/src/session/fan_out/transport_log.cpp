#include "session/fan_out/transport_log.hpp"

#include <algorithm>
#include <utility>

#include "wire/ts/clock.hpp"
#include "wire/ts/packet_writer.hpp"
#include "wire/ts/read/packet.hpp"
#include "wire/ts/read/pes_reader.hpp"
#include "wire/ts/write/access_unit.hpp"
#include "wire/ts/write/pes.hpp"

namespace live::session {

using wire::codec::Content;
using wire::ts::kPacketBytes;
using wire::ts::StreamFormat;

namespace {

constexpr std::uint16_t kAssociationPid = 0;

std::uint16_t pid_of(Bytes packet) { return static_cast<std::uint16_t>((packet[1] & 0x1F) << 8 | packet[2]); }
// payload_unit_start_indicator
bool begins_unit(Bytes packet) { return (packet[1] & 0x40) != 0; }
// random_access_indicator, in an adaptation field that has room for it
bool is_random_access(Bytes packet) { return (packet[3] & 0x20) != 0 && packet[4] > 0 && (packet[5] & 0x40) != 0; }

// Reports whether a parameter set begins in these bytes. One that begins in later bytes is not detected, and is then sent
// twice.
bool has_sets(StreamFormat format, Bytes bytes) {
    for (std::size_t at = 0; at + 3 < bytes.size(); ++at) {
        if (bytes[at] != 0 || bytes[at + 1] != 0 || bytes[at + 2] != 1)
            continue;
        const std::uint8_t head = bytes[at + 3];
        if (format == StreamFormat::avc ? (head & 0x1F) == 7 : (head >> 1 & 0x3E) == 32)  // SPS; VPS or SPS
            return true;
    }
    return false;
}

}  // namespace

void TransportLog::append_hidden(Bytes unit, const wire::ts::TsReader& reader) {
    if (is_spoilt_)
        return;
    for (std::size_t at = 0; at < unit.size(); at += kPacketBytes)
        if (unit.size() % kPacketBytes != 0 || unit[at] != wire::ts::kSyncByte) {
            bytes_.drop_before(bytes_.head());
            shown_ = bytes_.head();
            marks_.clear();
            is_spoilt_ = true;
            return;
        }
    const Position begin = bytes_.head();
    if (reader.version() != version_) {
        version_ = reader.version();
        newest_ = tracks_of(reader);
        marks_.push_back({begin, newest_});
    }
    for (std::size_t at = 0; at < unit.size(); at += kPacketBytes)
        mark(unit.subspan(at, kPacketBytes), begin + at);
    bytes_.append(unit);
}

void TransportLog::mark(Bytes packet, Position at) {
    const std::uint16_t pid = pid_of(packet);
    if (pid == kAssociationPid || pid == newest_.map_pid)
        marks_.push_back({at, TablePacket{.is_map = pid != kAssociationPid, .begins = begins_unit(packet)}});
    else if (pid == newest_.lead_pid && begins_unit(packet))
        marks_.push_back({at, Begin{start_of(packet, at), is_random_access(packet)}});
}

void TransportLog::show(std::size_t bytes) {
    const Position end = std::min<Position>(shown_ + bytes, bytes_.head());
    for (; !marks_.empty() && marks_.front().at < end; marks_.pop_front())
        take(marks_.front());
    shown_ = end;
    trim();
}

void TransportLog::take(const Mark& mark) {
    if (const auto* const tracks = std::get_if<Tracks>(&mark.effect)) {
        tracks_ = *tracks;
        begun_.clear();
    } else if (const auto* const table = std::get_if<TablePacket>(&mark.effect)) {
        take_table(*table, mark.at);
    } else {
        take_begin(std::get<Begin>(mark.effect));
    }
}

void TransportLog::take_table(const TablePacket& packet, Position at) {
    auto& table = tables_[packet.is_map ? 1 : 0];
    if (packet.begins)
        table.clear();
    if (table.size() >= kTablePacketsMax * kPacketBytes)
        return;
    // At the end of a slab, a packet has two spans.
    std::array<::iovec, 2> parts;
    const std::size_t count = bytes_.spans(at, at + kPacketBytes, parts);
    for (const ::iovec& part : std::span(parts).first(count)) {
        const auto* const begin = static_cast<const std::uint8_t*>(part.iov_base);
        table.insert(table.end(), begin, begin + part.iov_len);
    }
}

void TransportLog::take_begin(const Begin& begin) {
    if (tracks_.video == StreamFormat::unknown)
        return add_entry(begin.start);
    if (begin.start.pts) {
        begun_.push_back(begin.start);
        if (begun_.size() > kBegunMax)
            begun_.pop_front();
    }
    if (!begin.is_flagged)
        return;
    ++flags_;
    if (are_flags_trusted())
        add_entry(begin.start);
}

TransportLog::Tracks TransportLog::tracks_of(const wire::ts::TsReader& reader) {
    const auto tracks = reader.tracks();
    const auto first = [&tracks](MediaKind kind) {
        return std::ranges::find_if(tracks, [kind](const auto& track) { return kind_of(track.format) == kind; });
    };
    const auto video = first(MediaKind::video);
    const auto audio = first(MediaKind::audio);
    const bool has_video = video != tracks.end();
    return {.map_pid = reader.map_pid(),
            .lead_pid = has_video               ? video->pid
                        : audio != tracks.end() ? audio->pid
                                                : kNoPid,
            .video = has_video ? video->format : StreamFormat::unknown};
}

TransportLog::Start TransportLog::start_of(Bytes packet, Position at) const {
    if (newest_.video == StreamFormat::unknown)
        return {.at = at};
    const auto parsed = wire::ts::parse_packet(packet);
    const auto pes = parsed.ok() ? wire::ts::parse_pes(parsed->payload) : Result<wire::ts::PesStart>(parsed.error());
    if (!pes.ok() || !pes->pts)
        return {.at = at};
    const bool may_need_sets = newest_.video == StreamFormat::avc || newest_.video == StreamFormat::hevc;
    const Bytes begin = parsed->payload.subspan(std::min(pes->header_bytes, parsed->payload.size()));
    return {.at = at,
            .pts = pes->pts,
            .dts = pes->dts.value_or(*pes->pts),
            .counter = parsed->counter,
            .has_sets = !may_need_sets || has_sets(newest_.video, begin)};
}

void TransportLog::note_video(const wire::codec::Frame& frame) {
    if (frame.content == Content::frame)
        note_picture(frame);
    else if (frame.content == Content::config && frame.track == wire::codec::TrackId{})
        note_sets(frame);
}

void TransportLog::note_sets(const wire::codec::Frame& config) {
    sets_.clear();
    if (tracks_.video != StreamFormat::avc && tracks_.video != StreamFormat::hevc)
        return;
    const Bytes record = config.data.bytes();
    auto format = tracks_.video == StreamFormat::avc ? wire::ts::avc_video_format(record) : wire::ts::hevc_video_format(record);
    if (format.ok())
        sets_ = std::move(format->parameter_sets);
}

// The reader skips some pictures, for example those before the first key frame, so pictures are matched by their times.
void TransportLog::note_picture(const wire::codec::Frame& picture) {
    const std::uint64_t dts = wire::ts::ticks_of(picture.dts);
    // Times are rounded down.
    const auto begun =
        std::ranges::find_if(begun_, [dts](const Start& one) { return ((one.dts - dts) & wire::ts::kTicksMask) <= 1; });
    const bool is_known = begun != begun_.end();
    const Start start = is_known ? *begun : Start{};
    if (is_known)
        begun_.erase(begun_.begin(), std::next(begun));
    if (!picture.key)
        return;
    ++key_frames_;
    if (is_known && !are_flags_trusted())
        add_entry(start);
}

void TransportLog::add_entry(const Start& start) {
    if (start.at >= begin() && (entries_.empty() || start.at > entries_.back().at))
        entries_.push_back(start);
}

void TransportLog::trim() {
    const auto newest = [this](std::size_t bytes) {
        return end() - std::min<Position>(end(), bytes / kPacketBytes * kPacketBytes);
    };
    Position first = newest(kBytesMax);
    if (entries_.size() >= 2)
        first = std::max(first, std::min(entries_[entries_.size() - 2].at, newest(kBytesKept)));
    if (first > begin())
        bytes_.drop_before(first);
    while (!entries_.empty() && entries_.front().at < begin())
        entries_.pop_front();
}

std::optional<TransportLog::Position> TransportLog::entry(Position not_before) const {
    if (entries_.empty() || entries_.back().at < not_before)
        return std::nullopt;
    return entries_.back().at;
}

Slice TransportLog::opening(Position entry) const {
    std::vector<std::uint8_t> all = tables_[0];
    all.insert(all.end(), tables_[1].begin(), tables_[1].end());
    const auto start = std::ranges::find(entries_, entry, &Start::at);
    if (start != entries_.end() && !start->has_sets && !sets_.empty())
        write_sets(*start, all);
    return Slice::copy_of(all);
}

// Writes the parameter sets as a separate unit; the continuity counters of the key frame continue after it.
void TransportLog::write_sets(const Start& entry, std::vector<std::uint8_t>& out) const {
    const auto time = [](std::uint64_t ticks) { return wire::ts::time_of(static_cast<std::int64_t>(ticks)); };
    const auto header =
        wire::ts::pes_header(wire::ts::PesStream::video, {.pts = time(*entry.pts), .dts = time(entry.dts)}, sets_.size());
    const std::array parts{header.view(), Bytes(sets_)};
    wire::ts::PacketWriter writer(wire::ts::Pid{tracks_.lead_pid});
    writer.set_counter(entry.counter -
                       (header.size + sets_.size() + wire::ts::kPacketPayloadBytes - 1) / wire::ts::kPacketPayloadBytes);
    writer.write_unit({}, parts, out);
}

TransportLogs::Holder::Holder(TransportLogs& logs, Ref<media::Source> source)
    : log(logs.slabs_, ++logs.last_id_), logs_(logs), source_(std::move(source)) {
    logs_.logs_[source_.get()] = &log;
}

TransportLogs::Holder::~Holder() {
    const auto found = logs_.logs_.find(source_.get());
    if (found != logs_.logs_.end() && found->second == &log)
        logs_.logs_.erase(found);
}

}  // namespace live::session
