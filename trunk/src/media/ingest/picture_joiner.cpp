#include "media/ingest/picture_joiner.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "wire/codec/decoder_config.hpp"
#include "wire/codec/video/av1.hpp"

namespace live::media {

using wire::codec::PicturePart;

namespace {

// The last OBU of a message may do without its size; one that others follow needs it.
Slice join_obus(Bytes head, const std::vector<Slice>& pieces) {
    ByteWriter out;
    out.bytes(head);
    for (const Slice& piece : pieces) {
        for (ByteReader in(piece.bytes()); !in.at_end();) {
            const auto obu = wire::codec::read_obu(in);
            if (!obu.ok())
                break;
            if (obu->has_size)
                out.bytes(obu->whole);
            else
                wire::codec::write_obu(out, *obu);
        }
    }
    return Slice::copy_of(out.written());
}

Slice join(Codec codec, Bytes head, const std::vector<Slice>& pieces, std::size_t bytes) {
    if (codec == Codec::av1)
        return join_obus(head, pieces);
    Slice joined = Slice::allocate(head.size() + bytes);
    MutBytes rest = copy_bytes(head, joined.mutable_bytes());
    for (const Slice& piece : pieces)
        rest = copy_bytes(piece.bytes(), rest);
    return joined;
}

}  // namespace

PictureJoiner::Track& PictureJoiner::track_of(TrackId id) {
    for (Track& track : tracks_)
        if (track.id == id)
            return track;
    Track& added = tracks_.emplace_back();
    added.id = id;
    return added;
}

void PictureJoiner::note_config(const Packet& config) {
    track_of(config.track).length_size = wire::codec::nal_length_size_of(config.codec, config.frame());
}

bool PictureJoiner::passes(const Packet& packet, std::uint32_t stamp_ms) {
    const bool is_front = !tracks_.empty() && tracks_.front().id == packet.track;
    Track& track = is_front ? tracks_.front() : track_of(packet.track);
    if (packet.content != Content::frame)
        return track.held.pieces.empty();
    part_ = wire::codec::picture_part_of(packet.codec, track.length_size, packet.frame());
    if (!track.held.pieces.empty())
        return false;
    if (part_ == PicturePart::unknown)
        return true;
    if (part_ != PicturePart::first || track.slices == Slices::one_by_one)
        return false;
    track.has_passed = true;
    track.passed_ms = stamp_ms;
    return true;
}

void PictureJoiner::push(TagPacket&& tagged, std::uint32_t stamp_ms, const Ring& ring) {
    Track& track = track_of(tagged.packet.track);
    const PicturePart part = tagged.packet.content == Content::frame ? part_ : PicturePart::unknown;
    switch (part) {
        case PicturePart::unknown:
            // A sequence header, for example, or an end of sequence.
            end_picture(track);
            ready_.push_back({std::move(tagged), stamp_ms});
            break;
        case PicturePart::front:
            end_picture(track);
            track.has_fronts = true;
            hold(track, std::move(tagged), stamp_ms, false);
            break;
        case PicturePart::first: push_first(track, std::move(tagged), stamp_ms); break;
        case PicturePart::middle: push_middle(track, std::move(tagged), stamp_ms, ring); break;
        case PicturePart::back:
            // Dropped if it follows a picture that has passed: for example filler, which no decoder needs.
            if (track.held.has_picture)
                hold(track, std::move(tagged), stamp_ms, false);
            break;
    }
}

// Further fields of a frame have its time.
void PictureJoiner::push_first(Track& track, TagPacket&& tagged, std::uint32_t stamp_ms) {
    if (track.held.has_picture) {
        if (track.held.picture.stamp_ms == stamp_ms) {
            track.slices = Slices::one_by_one;
            return hold(track, std::move(tagged), stamp_ms, true);
        }
        end_picture(track);
    }
    const bool waits = track.slices == Slices::one_by_one || (track.slices == Slices::unknown && track.has_fronts);
    if (track.held.pieces.empty() && !waits)
        return pass(track, std::move(tagged), stamp_ms);
    hold(track, std::move(tagged), stamp_ms, true);
    if (!waits)
        end_picture(track);
}

void PictureJoiner::push_middle(Track& track, TagPacket&& tagged, std::uint32_t stamp_ms, const Ring& ring) {
    if (!track.held.pieces.empty()) {
        if (track.held.has_picture)
            track.slices = Slices::one_by_one;
        return hold(track, std::move(tagged), stamp_ms, true);
    }
    // Its first slice may be lost, or follow.
    if (!track.has_passed || track.passed_ms != stamp_ms)
        return push_first(track, std::move(tagged), stamp_ms);
    track.slices = Slices::one_by_one;
    if (take_back(track, ring))
        hold(track, std::move(tagged), stamp_ms, true);
}

// The publisher's first picture has passed before a message showed that more of it follows. A key frame is sent again as a whole,
// so that players decode the next pictures; of another picture, the rest is dropped.
bool PictureJoiner::take_back(Track& track, const Ring& ring) {
    const Sequence first = ring.next() - std::min<Sequence>(ring.size(), kLookBackMax);
    for (Sequence at = ring.next(); at-- > first;) {
        const Packet& packet = ring.at(at);
        if (packet.kind != MediaKind::video || packet.track != track.id || packet.content != Content::frame)
            continue;
        if (!packet.key)
            return false;
        TagPacket again;
        again.packet = packet;
        again.packet.dts = {};
        hold(track, std::move(again), track.passed_ms, true);
        return true;
    }
    return false;
}

void PictureJoiner::hold(Track& track, TagPacket&& tagged, std::uint32_t stamp_ms, bool is_picture) {
    const std::size_t bytes = tagged.packet.frame_bytes();
    if (track.held.pieces.size() >= kPiecesMax || track.held.bytes + bytes > kHeldBytesMax) {
        end_picture(track);
        track.held = {};
    }
    Held& held = track.held;
    held.pieces.push_back(tagged.packet.frame_slice());
    held.bytes += bytes;
    if (!is_picture)
        return;
    if (held.has_picture) {
        held.picture.tagged.packet.key |= tagged.packet.key;
        return;
    }
    held.has_picture = true;
    held.picture = {std::move(tagged), stamp_ms};
}

void PictureJoiner::pass(Track& track, TagPacket&& tagged, std::uint32_t stamp_ms) {
    track.has_passed = true;
    track.passed_ms = stamp_ms;
    ready_.push_back({std::move(tagged), stamp_ms});
}

// Pieces that precede a picture are kept.
void PictureJoiner::end_picture(Track& track) {
    if (!track.held.has_picture)
        return;
    Held held = std::exchange(track.held, {});
    if (track.slices == Slices::unknown)
        track.slices = Slices::together;
    Packet& packet = held.picture.tagged.packet;
    if (held.pieces.size() > 1) {
        has_joined_ = true;
        packet.payload = join(packet.codec, packet.payload.bytes().first(packet.head), held.pieces, held.bytes);
    }
    pass(track, std::move(held.picture.tagged), held.picture.stamp_ms);
}

std::optional<PictureJoiner::Picture> PictureJoiner::pop() {
    if (taken_ == ready_.size()) {
        ready_.clear();
        taken_ = 0;
        return std::nullopt;
    }
    return std::move(ready_[taken_++]);
}

void PictureJoiner::finish() {
    for (Track& track : tracks_)
        end_picture(track);
}

}  // namespace live::media
