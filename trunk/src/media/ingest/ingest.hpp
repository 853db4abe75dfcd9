// Ingest: sits between a publisher's protocol and the source. Parses each body once into a packet that describes its content,
// maps it to the source's timeline and appends it; a message with several tracks becomes one packet per track, several messages
// of one picture become one packet. Unknown codecs are relayed; broken bodies are dropped and counted but never end the
// publisher.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "media/ingest/annex_b_tags.hpp"
#include "media/ingest/framed_aac.hpp"
#include "media/ingest/interleaver.hpp"
#include "media/ingest/key_gate.hpp"
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

    // A body of audio or video as RTMP and FLV carry it, with the publisher's wrapping millisecond timestamp.
    void push_body(MediaKind kind, std::uint32_t stamp_ms, Slice body);
    // AMF0: the name of the event, then its values. A leading "@setDataFrame" is removed; after
    // "@clearDataFrame" and "onMetaData", players that join get no metadata.
    void push_data(std::uint32_t stamp_ms, Slice body);
    // Audio, video or Codec::rtp_data of a publisher whose protocol has no such bodies; the frame's dts is ignored.
    void push_frame(MediaKind kind, std::uint32_t stamp_ms, wire::codec::Frame frame);

    // Broken bodies that were dropped.
    std::uint64_t dropped() const { return dropped_; }

private:
    // For bodies since the last reset: the blocks they keep alive may be this many times their size, plus the slack.
    static constexpr std::size_t kHeldTimesMax = 4;
    static constexpr std::size_t kHeldSlack = 64U << 10;
    static constexpr std::size_t kKeptReset = 256U << 10;
    // After this many AAC frames (some 1 s) without a sequence header, the header counts as missing.
    static constexpr std::uint32_t kHeaderlessFrames = 50;

    // Whether a packet is checked for tracks without room, framed AAC and partial images, or has passed these checks.
    enum class Stage : std::uint8_t { arrived, whole };
    // Log lines that are written once per publisher, or once per kind.
    enum class Notice : std::uint8_t { annex_b, joined, reserved_type, stray_stamp, unknown_codec, too_many_tracks, bad_config };

    void push_packet(TagPacket&& tagged, std::uint32_t stamp_ms, Stage stage);
    bool begins_with(const TagPacket& tagged, std::uint32_t stamp_ms);
    bool convert_unusual(TagPacket& tagged, std::uint32_t stamp_ms);
    bool convert_annex_b(TagPacket& tagged, std::uint32_t stamp_ms);
    void find_frame_type(TagPacket& tagged);
    void push_tracks(MediaKind kind, std::uint32_t stamp_ms, Bytes body);
    void push_joined();
    bool push_framed_aac(const TagPacket& tagged, std::uint32_t stamp_ms);
    void append_in_order(Packet&& packet);
    void count_block(MediaKind kind, const Slice& body);
    void leave_out(const Packet& packet);
    bool takes_config(const Packet& packet);
    bool is_repeated_config(const Packet& packet) const;
    bool is_bad_config(const Packet& packet);
    void note_track(const TagPacket& tagged);
    void note_headerless(const Packet& packet);
    void note_unusual_stamp(const Timeline::Stamp& stamp, std::uint32_t stamp_ms);
    void note_earlier_image(const Packet& packet, std::uint32_t shown_ms);
    void drop(std::string_view what, const Error& error);
    Result<Slice> read_event(Slice body);
    Result<std::optional<Slice>> rewrite_metadata(Bytes body);
    void log_config(const Packet& packet) const;
    void log_video_config(const Packet& packet) const;
    // Reports whether the notice is the first of its kind.
    bool is_first(Notice notice, MediaKind kind = MediaKind::video);

    Publication& publication_;
    PlayOptions options_;
    PublishOptions publish_options_;
    const Log& log_;
    AnnexBTags annex_b_;
    PictureJoiner joiner_;
    Interleaver interleaver_;
    std::unique_ptr<KeyGate> gate_;  // while the publication waits
    FramedAac framed_aac_;
    std::uint64_t dropped_ = 0;
    // Bytes of bodies, and of the blocks they share, since the last reset.
    std::size_t kept_bytes_ = 0;
    std::size_t held_bytes_ = 0;
    std::array<const void*, kMediaKindCount> newest_memory_{};  // a kind may have blocks of its own
    bool copies_bodies_ = false;                                // those of the newest block
    bool has_shown_ = false;                                    // a frame of video has arrived
    std::uint32_t newest_shown_ms_ = 0;
    std::uint32_t headerless_frames_ = 0;
    std::optional<TrackId> headed_track_;  // the latest AAC track with a sequence header
    std::uint32_t noticed_ = 0;            // a bit for each Notice and kind
};

}  // namespace live::media
