// Ingest: between one publisher's protocol and the source. Looks at each body just enough to know what it is (sequence header,
// key frame, metadata), puts it on the source's timeline and appends it. What it does not understand is relayed, what is broken
// is dropped and counted; a publisher is never ended for it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "media/interleaver.hpp"
#include "media/options.hpp"
#include "media/source.hpp"
#include "wire/flv/audio_tag.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::media {

class Ingest {
public:
    // `publication` and `log` outlive this. Nothing is appended once the publication is not current any more.
    Ingest(Publication& publication, const PlayOptions& options, const PublishOptions& publish_options, const Log& log);
    ~Ingest();
    Ingest(const Ingest&) = delete;
    Ingest& operator=(const Ingest&) = delete;

    // Bodies as RTMP and FLV carry them, with the publisher's wrapping millisecond stamps.
    void push_audio(std::uint32_t stamp_ms, Slice body);
    void push_video(std::uint32_t stamp_ms, Slice body);
    // AMF0: the name of the event, then its values. "@setDataFrame" in front is removed.
    void push_data(std::uint32_t stamp_ms, Slice body);

    // Bodies that were broken and dropped.
    std::uint64_t dropped() const { return dropped_; }

private:
    // Of bodies since the last reset: the memory that they are parts of may be so many times as much as they are, and a bit.
    static constexpr std::size_t kHeldTimesMax = 4;
    static constexpr std::size_t kHeldSlack = 64U << 10;
    static constexpr std::size_t kKeptReset = 256U << 10;

    void push(Packet packet, std::uint32_t stamp_ms);
    Slice unshare(Slice body);
    bool is_repeated_config(Kind kind, const Slice& body) const;
    void watch_order(const wire::flv::VideoTag& tag, std::uint32_t stamp_ms);
    void drop(const char* what, const Error& error);
    Result<std::optional<Slice>> rewrite_metadata(Bytes body);
    void log_video_config(const wire::flv::VideoTag& tag) const;
    void log_audio_config(const wire::flv::AudioTag& tag) const;

    Publication& publication_;
    PlayOptions options_;
    PublishOptions publish_options_;
    const Log& log_;
    Interleaver interleaver_;
    std::uint64_t dropped_ = 0;
    std::size_t kept_bytes_ = 0;
    std::size_t held_bytes_ = 0;
    const void* newest_memory_ = nullptr;
    std::uint32_t newest_shown_ms_ = 0;
    bool has_shown_ = false;  // a picture came
};

}  // namespace live::media
