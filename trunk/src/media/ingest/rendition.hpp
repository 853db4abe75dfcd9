// Rendition: the right to add tracks to a stream that has a publisher, for a service of this process that makes another version
// of it, such as a transcoder. Clients cannot have it: they start a Publication, which refuses a second publisher. The tracks
// have ids and names of their own and are never the default ones. They are removed when this object is destroyed, or when the
// stream's publisher ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/result.hpp"
#include "media/ingest/rendition_clock.hpp"
#include "media/source/source.hpp"

namespace live::media {

class Rendition final : public RenditionPublisher {
public:
    // `tracks` declares the tracks by the ids that push_frame() gets, at most Tracks::kRenditionMax of a kind. Errc::not_found
    // without a publisher; Errc::limit for too many tracks or renditions.
    static Result<std::unique_ptr<Rendition>> start(Ref<Source> source, std::vector<TrackName> tracks);
    // For start(): may publish nothing until it is admitted.
    Rendition(Ref<Source> source, std::vector<TrackName> tracks);
    ~Rendition();

    Source& source() { return *source_; }

    // Appends a frame or a configuration; its dts is ignored. `stamp_ms` is a time on the source's timeline, or any other time
    // that proceeds with it: see RenditionClock. The caller sets the source's arrival time and flushes, as publishers do.
    void push_frame(MediaKind kind, std::uint32_t stamp_ms, wire::codec::Frame frame);
    // The same at `frame.dts`, a time on the source's timeline, for services whose frames must have exact times. Such times must
    // not decrease.
    void push_frame(MediaKind kind, wire::codec::Frame frame);

    // Frames that were dropped: of undeclared tracks, beyond the limit of tracks, of codecs without a FourCC, bad configurations.
    std::uint64_t dropped() const { return dropped_; }

private:
    using Key = std::pair<MediaKind, TrackId>;

    // Returns the track's id in the source, after adding it; nullptr if that is not possible.
    const TrackId* find_or_add(const Key& key);
    bool takes_config(const Packet& packet);
    // Returns the packet of a frame of a known or new track; nullopt if it is dropped.
    std::optional<Packet> packet_of(MediaKind kind, wire::codec::Frame frame);

    Ref<Source> source_;
    const std::vector<TrackName> declared_;
    std::map<Key, TrackId> added_;  // ids in the source, by the rendition's own
    RenditionClock clock_;
    std::uint64_t dropped_ = 0;
};

}  // namespace live::media
