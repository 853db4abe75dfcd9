#include "media/source/stream_table.hpp"

namespace live::media {

Result<Ref<Source>> StreamTable::find_or_create(const std::string& url, const PlayOptions& options, std::uint32_t chunk_size) {
    if (const auto found = streams_.find(url); found != streams_.end())
        return found->second.source;
    if (streams_.size() >= kStreamsMax)
        return Error(Errc::limit, "there are " + std::to_string(streams_.size()) + " streams already, the most there may be");
    Ref<Source> source = make_ref<Source>(url, options, chunk_size, pool_);
    source->rtp_logs().set_conversion(transcoders_, conversion_log_);
    source->backlog().set_encoder(deferred_encoder_);
    streams_.emplace(url, Stream{source, {}});
    return source;
}

Ref<Source> StreamTable::find(const std::string& url) const {
    const auto found = streams_.find(url);
    return found == streams_.end() ? Ref<Source>() : found->second.source;
}

std::vector<std::string> StreamTable::expire(TimePoint now, Duration idle) {
    std::vector<std::string> expired;
    std::size_t bytes = 0;
    for (auto at = streams_.begin(); at != streams_.end();) {
        Stream& stream = at->second;
        const bool in_use = stream.source->ref_count() > 1 || stream.source->is_published();
        if (in_use) {
            stream.idle_since = {};
        } else if (stream.idle_since == TimePoint{}) {
            stream.idle_since = now;
        } else if (now - stream.idle_since >= idle && expired.size() < kExpiredMax && bytes < kExpiredBytes) {
            bytes += stream.source->held_bytes();
            expired.push_back(at->first);
            at = streams_.erase(at);
            continue;
        }
        ++at;
    }
    return expired;
}

}  // namespace live::media
