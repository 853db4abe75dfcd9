#include "session/srt/play_session.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "media/source/wire_log_hold.hpp"
#include "session/common/join.hpp"
#include "session/srt/key_check.hpp"

namespace live::session::srt {

namespace {

constexpr std::size_t kTsPacketBytes = 188;
// The id of the source's own log, for the cache of units; those of transport logs begin with 1.
constexpr std::uint64_t kWireLog = 0;

}  // namespace

PlaySession::~PlaySession() {
    context_.players.leave(*this);
    context_.port.remove(*this);
}

Result<void> PlaySession::serve(Opening& opening, io::Deadline deadline) {
    auto served = context_.admission.serve_play(request_, deadline);
    if (!served.ok()) {
        refuse(served.error());
        return std::move(served).error();
    }
    auto* const plan = std::get_if<StreamPlan>(&*served);
    if (plan == nullptr)
        return Error(Errc::not_found, "the stream is on another server, and SRT has no redirect");
    plan_ = std::move(*plan);
    const AdmittedPlay admitted(context_.events, request_, plan_);
    TRY(check_key(opening, deadline));
    return play(opening, deadline);
}

// The sender makes the key, and version 4 has no place for it in the handshake.
Result<void> PlaySession::make_key(Opening& opening, io::Deadline deadline) {
    if (opening.request.handshake_version != 4 || passphrase().empty())
        return {};
    opening.salt = engine::srt::random_salt();
    opening.kek = TRY(derive_client_key(context_.places, request_.ip, passphrase(), opening.salt, opening.key_bytes, deadline));
    return {};
}

Result<void> PlaySession::play(Opening& opening, io::Deadline deadline) {
    const auto source = TRY(context_.streams.find_or_create(plan_.url, plan_.play, plan_.chunk_size));
    source->set_options(plan_.play);
    not_before_ = plan_.play.gop_cache ? 0 : source->ring().next();
    auto connected = make_key(opening, deadline);
    if (connected.ok())
        connected = connect(opening);
    if (!connected.ok()) {
        refuse(connected.error());
        return connected;
    }
    StreamStay stay(entry(), plan_, io::now());
    LOG_INFO(log_, "SRT: start play url={}, from={}", plan_.url, request_.peer);
    auto ended = send(source, opening.options.payload_bytes_max, media::Audience::some, deadline);
    stay.end(ended);
    cursor_.reset();
    return ended;
}

Result<void> PlaySession::send(const Ref<media::Source>& source, std::size_t payload_bytes_max, media::Audience audience,
                               io::Deadline deadline) {
    source_ = source;
    unit_bytes_ = payload_bytes_max / kTsPacketBytes * kTsPacketBytes;
    // Among this session's readers, only this hold sets the audience.
    media::WireLogHold hold(source_, kTransportStream, audience);
    TRY(catch_up(hold, deadline));
    group_ = &context_.players.join(source_, *this);
    context_.players.wake(*this);
    io::trim_stack();  // admission and passphrases use more of it than waiting
    auto ended = wait_for_end(deadline);
    context_.players.leave(*this);
    group_ = nullptr;
    return ended;
}

void PlaySession::on_input(TimePoint now) {
    // Input from players is ignored.
    while (connection()->next_payload(now))
        continue;
    if (connection()->key_question())
        wake();
    if (std::exchange(is_full_, false))
        context_.players.wake(*this);
    account(connection()->held_bytes());
}

void PlaySession::serve(TimePoint now) {
    if (connection() == nullptr || !connection()->is_open())
        return;
    if (const TransportLog* const log = context_.transports.find(*source_); log != nullptr && log->is_whole()) {
        cursor_.reset();
        return pass(*log, now);
    }
    passed_ = 0;
    if (!begin())
        return;
    for (std::size_t sent = 0; sent < kUnitsAtOnce; ++sent) {
        const Slice unit = next_unit();
        if (unit.empty() || !send_unit(now, unit))
            return;
        cursor_->advance(unit.size());
    }
    context_.players.wake(*this);
}

bool PlaySession::send_unit(TimePoint now, const Slice& unit) {
    const auto result = connection()->send(now, unit);
    // A version 4 player may still send its key.
    is_full_ = result == engine::srt::Connection::Sent::full || result == engine::srt::Connection::Sent::no_key;
    return result == engine::srt::Connection::Sent::queued;
}

void PlaySession::pass(const TransportLog& log, TimePoint now) {
    if (!begin_to_pass(log))
        return;
    for (std::size_t sent = 0; sent < kUnitsAtOnce; ++sent) {
        const bool is_opening = !opening_.empty();
        const Slice unit = is_opening ? opening_.sub(0, std::min(opening_.size(), unit_bytes_)) : next_unit(log);
        if (unit.empty() || !send_unit(now, unit))
            return;
        if (is_opening)
            opening_ = opening_.sub(unit.size());
        else
            passed_to_ += unit.size();
    }
    context_.players.wake(*this);
}

// Begins at a key frame, also if the player is so late that the log has dropped the packets that it needs.
bool PlaySession::begin_to_pass(const TransportLog& log) {
    if (passed_ != log.id()) {
        passed_ = log.id();
        passed_to_ = plan_.play.gop_cache ? 0 : log.end();
        opening_ = {};
        is_passing_ = false;
    }
    if (is_passing_ && passed_to_ >= log.begin())
        return true;
    const auto entry = log.entry(passed_to_);
    if (!entry)
        return false;
    if (is_passing_)
        missed_packets_ += (*entry - passed_to_) / kTsPacketBytes;
    is_passing_ = true;
    passed_to_ = *entry;
    opening_ = log.opening(*entry);
    return true;
}

bool PlaySession::begin() {
    if (cursor_)
        return true;
    const auto from = starting_point();
    if (from)
        cursor_.emplace(source_, kTransportStream, std::vector<std::uint8_t>(), *from, media::Audience::none);
    return from.has_value();
}

// At a key frame; audio alone begins anywhere.
std::optional<media::Sequence> PlaySession::starting_point() const {
    if (!source_->is_published())
        return std::nullopt;
    if (const auto key_frame = source_->retention().gop_start(); key_frame && *key_frame >= not_before_)
        return key_frame;
    const bool has_video =
        source_->tracks().last_time(MediaKind::video) || source_->tracks().config(MediaKind::video).is_config();
    const std::uint64_t sure =
        source_->tracks().expected_kinds().has(MediaKind::video) ? media::Retention::kAudioOnlyAfter : kSurePackets;
    if (has_video || source_->counters().packets[index_of(MediaKind::audio)] < sure)
        return std::nullopt;
    return source_->retention().join_point();
}

// Returns a unit of the size of a packet's payload, or all bytes of this round if they are fewer. The cursor does not advance.
Slice PlaySession::next_unit() {
    const Place place{kWireLog, cursor_->position(), cursor_->is_in_sync()};
    std::size_t size_max = unit_bytes_;
    if (place.is_shared)
        size_max = left_of_round(place, group_->wire_end(), unit_bytes_);
    if (size_max == 0)
        return {};
    if (const Slice* const known = known_unit(place, size_max))
        return *known;
    std::array<::iovec, 4> parts;
    const auto batch = cursor_->take(parts);
    // A unit may have more parts than spans: then it is shorter, and still has whole packets.
    std::size_t reached = 0;
    for (std::size_t i = 0; i < batch.spans; ++i)
        reached += parts[i].iov_len;
    const std::size_t size = std::min({batch.bytes, size_max, reached}) / kTsPacketBytes * kTsPacketBytes;
    if (size == 0)
        return {};
    return cut({kWireLog, cursor_->position(), cursor_->is_in_sync()}, parts, size);
}

// All players cut at the same places. Those that are late leave the units of the others in the cache.
Slice PlaySession::next_unit(const TransportLog& log) {
    const Place place{log.id(), passed_to_, log.end() - passed_to_ <= UnitCache::kUnits * unit_bytes_ / 2};
    const std::size_t size = left_of_round(place, log.end(), unit_bytes_ - passed_to_ % unit_bytes_);
    if (size == 0)
        return {};
    if (const Slice* const known = known_unit(place, size))
        return *known;
    std::array<::iovec, 4> parts;
    log.spans(passed_to_, passed_to_ + size, parts);
    return cut(place, parts, size);
}

// At most `size_max`.
std::size_t PlaySession::left_of_round(const Place& place, std::uint64_t log_end, std::size_t size_max) const {
    const std::uint64_t end = group_->units().end_of_round(place.log, log_end);
    return end > place.position ? static_cast<std::size_t>(std::min<std::uint64_t>(size_max, end - place.position)) : 0;
}

const Slice* PlaySession::known_unit(const Place& place, std::size_t size_max) const {
    return place.is_shared ? group_->units().find(place.log, place.position, size_max) : nullptr;
}

Slice PlaySession::cut(const Place& place, std::span<const ::iovec> parts, std::size_t size) {
    Slice unit = Slice::allocate(size);
    MutBytes rest = unit.mutable_bytes();
    for (auto part = parts.begin(); !rest.empty(); ++part) {
        const Bytes bytes(static_cast<const std::uint8_t*>(part->iov_base), std::min(part->iov_len, rest.size()));
        rest = copy_bytes(bytes, rest);
    }
    if (place.is_shared)
        group_->units().put(place.log, place.position, unit);
    return unit;
}

ClientFigures PlaySession::figures() const {
    ClientFigures figures = Session::figures();
    figures.dropped_packets = missed_packets_;
    if (cursor_) {
        figures.dropped_packets += cursor_->dropped();
        figures.queued_packets = cursor_->behind();
    }
    return figures;
}

}  // namespace live::session::srt
