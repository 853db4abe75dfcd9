#include "session/common/transport_log.hpp"

#include <algorithm>
#include <utility>

#include "wire/ts/clock.hpp"
#include "wire/ts/packet.hpp"
#include "wire/ts/packet_writer.hpp"
#include "wire/ts/pes_reader.hpp"

namespace live::session {

using wire::ts::kPacketBytes;
using wire::ts::StreamKind;

namespace {

std::uint16_t pid_of(Bytes packet) { return static_cast<std::uint16_t>((packet[1] & 0x1F) << 8 | packet[2]); }
// payload_unit_start_indicator
bool begins_unit(Bytes packet) { return (packet[1] & 0x40) != 0; }
// random_access_indicator, in an adaptation field that has room for it
bool is_random_access(Bytes packet) { return (packet[3] & 0x20) != 0 && packet[4] > 0 && (packet[5] & 0x40) != 0; }

}  // namespace

void TransportLog::append(Bytes unit, const wire::ts::TsReader& reader) {
    if (is_spoilt_)
        return;
    for (std::size_t at = 0; at < unit.size(); at += kPacketBytes)
        if (unit.size() % kPacketBytes != 0 || unit[at] != wire::ts::kSyncByte) {
            bytes_.drop_before(end());
            is_spoilt_ = true;
            return;
        }
    if (reader.version() != version_)
        choose_tracks(reader);
    for (std::size_t at = 0; at < unit.size(); at += kPacketBytes)
        look_at(unit.subspan(at, kPacketBytes), end() + at);
    bytes_.append(unit);
    trim();
}

void TransportLog::choose_tracks(const wire::ts::TsReader& reader) {
    version_ = reader.version();
    map_pid_ = reader.map_pid();
    const auto tracks = reader.tracks();
    const auto first = [&tracks](StreamKind kind) {
        return std::ranges::find_if(tracks, [kind](const auto& track) { return kind_of(track.format) == kind; });
    };
    const auto video = first(StreamKind::video);
    const auto audio = first(StreamKind::audio);
    has_video_ = video != tracks.end();
    lead_pid_ = has_video_ ? video->pid : audio != tracks.end() ? audio->pid : kNoPid;
    begun_.clear();
}

void TransportLog::look_at(Bytes packet, Position at) {
    constexpr std::uint16_t kAssociationPid = 0;
    const std::uint16_t pid = pid_of(packet);
    if (pid == kAssociationPid || pid == map_pid_) {
        auto& table = tables_[pid == kAssociationPid ? 0 : 1];
        if (begins_unit(packet))
            table.clear();
        if (table.size() < kTablePacketsMax * kPacketBytes)
            table.insert(table.end(), packet.begin(), packet.end());
        return;
    }
    if (pid != lead_pid_ || !begins_unit(packet))
        return;
    if (!has_video_)
        return add_entry(at);
    note_begin(packet, at);
    if (!is_random_access(packet))
        return;
    ++flags_;
    if (are_flags_trusted())
        add_entry(at);
}

void TransportLog::note_begin(Bytes packet, Position at) {
    const auto parsed = wire::ts::parse_packet(packet);
    const auto start = parsed.ok() ? wire::ts::parse_pes(parsed->payload) : Result<wire::ts::PesStart>(parsed.error());
    if (!start.ok() || !start->pts)
        return;
    begun_.push_back({at, start->dts.value_or(*start->pts)});
    if (begun_.size() > kBegunMax)
        begun_.pop_front();
}

// The reader leaves pictures out, those before the first key frame for one, so they are known by their times.
void TransportLog::note_picture(const wire::codec::Frame& frame) {
    const std::uint64_t dts = wire::ts::ticks_of(frame.dts);
    // Times are rounded down.
    const auto begun =
        std::ranges::find_if(begun_, [dts](const Begun& one) { return ((one.dts - dts) & wire::ts::kTicksMask) <= 1; });
    const bool is_known = begun != begun_.end();
    const Position at = is_known ? begun->at : 0;
    if (is_known)
        begun_.erase(begun_.begin(), std::next(begun));
    if (!frame.key)
        return;
    ++key_frames_;
    if (is_known && !are_flags_trusted())
        add_entry(at);
}

void TransportLog::add_entry(Position at) {
    if (at >= begin() && (entries_.empty() || at > entries_.back()))
        entries_.push_back(at);
}

void TransportLog::trim() {
    const auto newest = [this](std::size_t bytes) {
        return end() - std::min<Position>(end(), bytes / kPacketBytes * kPacketBytes);
    };
    Position first = newest(kBytesMax);
    if (entries_.size() >= 2)
        first = std::max(first, std::min(entries_[entries_.size() - 2], newest(kBytesKept)));
    if (first > begin())
        bytes_.drop_before(first);
    while (!entries_.empty() && entries_.front() < begin())
        entries_.pop_front();
}

std::optional<TransportLog::Position> TransportLog::entry(Position not_before) const {
    if (entries_.empty() || entries_.back() < not_before)
        return std::nullopt;
    return entries_.back();
}

Slice TransportLog::tables() const {
    std::vector<std::uint8_t> both = tables_[0];
    both.insert(both.end(), tables_[1].begin(), tables_[1].end());
    return Slice::copy_of(both);
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
