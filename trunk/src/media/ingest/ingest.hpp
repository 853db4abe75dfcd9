// Ingest: sits between a publisher's protocol and the source. Parses each body once into a packet that describes its content,
// maps it to the source's timeline and appends it; a message with several tracks becomes one packet per track, several messages
// of one picture become one packet. Unknown codecs are relayed; broken bodies are dropped and counted but never end the
// publisher.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "media/ingest/annex_b_tags.hpp"
#include "media/ingest/framed_aac.hpp"
#include "media/ingest/interleaver.hpp"
#include "media/ingest/picture_joiner.hpp"
#include "media/ring/options.hpp"
#include "media/ring/tag_packet.hpp"
#include "media/source/publication.hpp"

namespace live::media {

class Ingest {
public:
    // `publication` and `log` outlive this. Nothing is appended after the publication stops being current.
    Ingest(Publication& publication, const PlayOptions& options, const PublishOptions& publish_options, const Log& log);
    ~Ingest();
    Ingest(const Ingest&) = delete;
    Ingest& operator=(const Ingest&) = delete;

    // Bodies as carried by RTMP and FLV, with the publisher's wrapping millisecond timestamps.
    void push_audio(std::uint32_t stamp_ms, Slice body);
    void push_video(std::uint32_t stamp_ms, Slice body);
    // AMF0: the name of the event, then its values. A leading "@setDataFrame" is removed; after
    // "@clearDataFrame" and "onMetaData", players that join get no metadata.
    void push_data(std::uint32_t stamp_ms, Slice body);
    // Audio or video of a publisher whose protocol has no such bodies; the frame's dts is ignored.
    void push_frame(MediaKind kind, std::uint32_t stamp_ms, wire::codec::Frame frame);

    // Broken bodies that were dropped.
    std::uint64_t dropped() const { return dropped_; }

private:
    // For bodies since the last reset: the blocks they keep alive may be this many times their size, plus the slack.
    static constexpr std::size_t kHeldTimesMax = 4;
    static constexpr std::size_t kHeldSlack = 64U << 10;
    static constexpr std::size_t kKeptReset = 256U << 10;
    // After so many AAC frames, some 1 s, their sequence header is missed.
    static constexpr std::uint32_t kHeaderlessFrames = 50;

    void push_tag(MediaKind kind, std::uint32_t stamp_ms, Slice body);
    bool convert_annex_b(TagPacket& tagged, std::uint32_t stamp_ms);
    void find_frame_type(TagPacket& tagged);
    void push_tracks(MediaKind kind, std::uint32_t stamp_ms, Bytes body);
    void push_media(TagPacket&& tagged, std::uint32_t stamp_ms);
    void push_joined();
    void push_whole(TagPacket&& tagged, std::uint32_t stamp_ms);
    bool push_framed_aac(const TagPacket& tagged, std::uint32_t stamp_ms);
    void push(Packet&& packet, std::uint32_t stamp_ms);
    Timeline::Stamp place(const Packet& packet, std::uint32_t stamp_ms);
    Slice unshare(Slice body);
    bool is_one_too_many(const Packet& packet);
    bool is_repeated_config(const Packet& packet) const;
    bool is_bad_config(const Packet& packet);
    void watch_track(const TagPacket& tagged);
    void watch_header(const Packet& packet);
    void watch_order(const Packet& packet, std::uint32_t stamp_ms);
    void drop(const char* what, const Error& error);
    Result<Slice> read_event(Slice body);
    Result<std::optional<Slice>> rewrite_metadata(Bytes body);
    void log_config(const Packet& packet) const;
    void log_video_config(const Packet& packet) const;

    Publication& publication_;
    PlayOptions options_;
    PublishOptions publish_options_;
    const Log& log_;
    AnnexBTags annex_b_;
    bool has_annex_b_ = false;  // logged
    PictureJoiner joiner_;
    bool has_joined_ = false;  // logged
    Interleaver interleaver_;
    std::uint64_t dropped_ = 0;
    std::size_t kept_bytes_ = 0;
    std::size_t held_bytes_ = 0;
    const void* newest_memory_ = nullptr;
    MediaKindSet opaque_;              // kinds with an unknown codec; logged
    MediaKindSet too_many_;            // kinds with more tracks than allowed; logged
    MediaKindSet bad_;                 // kinds with a bad sequence header after a good one; logged
    bool has_reserved_types_ = false;  // logged
    FramedAac framed_aac_;
    std::uint32_t headerless_frames_ = 0;
    std::uint32_t newest_shown_ms_ = 0;
    bool has_shown_ = false;   // a frame has arrived
    bool has_strays_ = false;  // a frame had a timestamp out of line; logged
};

}  // namespace live::media
