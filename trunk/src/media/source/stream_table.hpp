// StreamTable: all live sources by url. A source is created for the first publisher or player and removed some
// seconds after the last one has left; sessions hold a Ref, so removal never invalidates a source in use.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "media/source/source.hpp"

namespace live::media {

class StreamTable {
public:
    static constexpr std::size_t kStreamsMax = 100'000;

    explicit StreamTable(SlabPool& pool) : pool_(pool) {}

    // For sources created from now on: see RtpLogs::set_conversion.
    void set_conversion(AudioTranscoders* transcoders, const Log& log) {
        transcoders_ = transcoders;
        conversion_log_ = log;
    }
    AudioTranscoders* transcoders() const { return transcoders_; }
    // For sources created from now on; outlives them.
    void set_deferred_encoder(DeferredEncoder& encoder) { deferred_encoder_ = &encoder; }

    // Errc::limit if there are kStreamsMax sources.
    Result<Ref<Source>> find_or_create(const std::string& url, const PlayOptions& options, std::uint32_t chunk_size);
    Ref<Source> find(const std::string& url) const;
    // Removes sources that have been unused for `idle`, up to kExpiredMax of them or some kExpiredBytes, as freeing a MiB takes
    // 0.1 ms; returns their urls. The caller repeats it about once a second, and at once while it returns any.
    static constexpr std::size_t kExpiredMax = 100;
    static constexpr std::size_t kExpiredBytes = 4U << 20;
    std::vector<std::string> expire(TimePoint now, Duration idle);
    std::size_t size() const { return streams_.size(); }

    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const auto& [url, stream] : streams_)
            visit(*stream.source);
    }

private:
    struct Stream {
        Ref<Source> source;
        TimePoint idle_since{};  // epoch: in use
    };

    SlabPool& pool_;
    std::unordered_map<std::string, Stream> streams_;
    AudioTranscoders* transcoders_ = nullptr;
    DeferredEncoder* deferred_encoder_ = nullptr;
    Log conversion_log_;
};

}  // namespace live::media
