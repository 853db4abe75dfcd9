#include "session/srt/play_session.hpp"

#include <algorithm>
#include <utility>

#include "base/log_format.hpp"
#include "io/loop.hpp"
#include "session/common/join.hpp"

namespace live::session::srt {

using media::Kind;

namespace {

constexpr std::size_t kTsPacketBytes = 188;

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
    return play(opening, deadline);
}

Result<void> PlaySession::play(Opening& opening, io::Deadline deadline) {
    source_ = TRY(context_.streams.find_or_create(plan_.url, plan_.play, plan_.chunk_size));
    source_->set_options(plan_.play);
    not_before_ = plan_.play.gop_cache ? 0 : source_->ring().next();
    unit_bytes_ = opening.options.payload_bytes_max / kTsPacketBytes * kTsPacketBytes;
    if (auto connected = connect(opening); !connected.ok()) {
        refuse(connected.error());
        return connected;
    }
    StreamStay stay(entry(), plan_, io::now());
    LOG_INFO(log_, "SRT: start play url={}, from={}", plan_.url, request_.peer);
    // Held by the group from then on.
    media::WireLogHold hold(source_, kTransportStream);
    if (auto complete = catch_up(hold, deadline); !complete.ok()) {
        stay.end(complete);
        return complete;
    }
    group_ = &context_.players.join(source_, *this);
    context_.players.wake(*this);
    auto ended = wait_for_end(deadline);
    stay.end(ended);
    context_.players.leave(*this);
    group_ = nullptr;
    cursor_.reset();
    return ended;
}

void PlaySession::on_input(TimePoint now) {
    // What players send is nothing to us.
    while (connection()->next_payload(now))
        continue;
    if (connection()->key_question())
        wake();
    if (std::exchange(is_full_, false))
        context_.players.wake(*this);
    account(connection()->held_bytes());
}

void PlaySession::serve(TimePoint now) {
    if (connection() == nullptr || !connection()->is_open() || !begin())
        return;
    for (std::size_t sent = 0; sent < kUnitsAtOnce; ++sent) {
        const Slice unit = next_unit();
        if (unit.empty())
            return;
        const auto result = connection()->send(now, unit);
        // A version 4 player may still send its key.
        is_full_ = result == engine::srt::Connection::Sent::full || result == engine::srt::Connection::Sent::no_key;
        if (result != engine::srt::Connection::Sent::queued)
            return;
        cursor_->advance(unit.size());
    }
    context_.players.wake(*this);
}

bool PlaySession::begin() {
    if (cursor_)
        return true;
    const auto from = starting_point();
    if (from)
        cursor_.emplace(source_, kTransportStream, std::vector<std::uint8_t>(), *from);
    return from.has_value();
}

// At a key frame; audio alone begins anywhere.
std::optional<media::Sequence> PlaySession::starting_point() const {
    if (!source_->is_published())
        return std::nullopt;
    if (const auto key_frame = source_->gop_start(); key_frame && *key_frame >= not_before_)
        return key_frame;
    const bool has_video = source_->last_time(Kind::video) || source_->config(Kind::video).is_config();
    if (has_video || source_->counters().packets[media::index_of(Kind::audio)] < kSurePackets)
        return std::nullopt;
    return source_->join_point();
}

// As large as the payload of a packet, or all there is. Not taken out of the cursor yet.
Slice PlaySession::next_unit() {
    std::array<::iovec, 4> parts;
    const auto batch = cursor_->take(parts);
    std::size_t size = std::min(batch.bytes, unit_bytes_);
    // Parts of a unit may be in more spans than asked for: then it is shorter, of whole packets still.
    std::size_t reached = 0;
    for (std::size_t i = 0; i < batch.spans; ++i)
        reached += parts[i].iov_len;
    size = std::min(size, reached) / kTsPacketBytes * kTsPacketBytes;
    if (size == 0)
        return {};
    const bool is_shared = cursor_->is_in_sync();
    if (is_shared)
        if (const Slice* const known = group_->units().find(cursor_->position(), size))
            return *known;
    Slice unit = Slice::allocate(size);
    const MutBytes into = unit.mutable_bytes();
    std::size_t done = 0;
    for (std::size_t i = 0; i < batch.spans && done < size; ++i) {
        const Bytes part(static_cast<const std::uint8_t*>(parts[i].iov_base), std::min(parts[i].iov_len, size - done));
        std::ranges::copy(part, into.begin() + static_cast<std::ptrdiff_t>(done));
        done += part.size();
    }
    if (is_shared)
        group_->units().put(cursor_->position(), unit);
    return unit;
}

ClientFigures PlaySession::figures() const {
    ClientFigures figures = Session::figures();
    if (cursor_) {
        figures.dropped_packets = cursor_->dropped();
        figures.queued_packets = cursor_->behind();
    }
    return figures;
}

}  // namespace live::session::srt
