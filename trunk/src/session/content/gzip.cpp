#include "session/content/gzip.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <zlib.h>

namespace live::session::content {

std::string gzip(Bytes body) {
    constexpr int kLevel = 5;
    constexpr int kGzipFormat = 16;  // added to the window bits (zlib's manual)
    z_stream stream{};
    if (::deflateInit2(&stream, kLevel, Z_DEFLATED, MAX_WBITS + kGzipFormat, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return {};
    std::string out(::deflateBound(&stream, body.size()), '\0');
    stream.next_in = const_cast<Bytef*>(body.data());
    stream.avail_in = static_cast<uInt>(body.size());
    stream.next_out = static_cast<Bytef*>(static_cast<void*>(out.data()));
    stream.avail_out = static_cast<uInt>(out.size());
    const bool is_whole = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
    out.resize(is_whole ? stream.total_out : 0);
    ::deflateEnd(&stream);
    return out;
}

bool is_compressible(std::string_view content_type) {
    static constexpr std::array<std::string_view, 5> kTypes = {"application/json", "application/vnd.apple.mpegurl",
                                                               "application/dash+xml", "application/wasm", "image/svg+xml"};
    const std::string_view type = content_type.substr(0, content_type.find(';'));
    return type.starts_with("text/") || std::ranges::find(kTypes, type) != kTypes.end();
}

PackedBodyRef RepeatedBodies::compressed(std::string_view body) {
    if (body.size() < kGzipBodyMin || body.size() > kBodyMax)
        return nullptr;
    const std::size_t hash = std::hash<std::string_view>()(body);
    const auto kept = std::ranges::find_if(kept_, [&](const Kept& each) { return each.hash == hash && each.body == body; });
    if (kept != kept_.end())
        return kept->gzip;
    if (std::exchange(seen_[hash % kSeenMax], hash) != hash)
        return nullptr;
    auto made = std::make_shared<const std::string>(gzip(as_bytes(body)));
    if (made->empty() || made->size() >= body.size())
        made.reset();
    if (kept_.size() < kKeptMax)
        kept_.emplace_back();
    kept_[next_] = {hash, std::string(body), made};
    next_ = (next_ + 1) % kKeptMax;
    return made;
}

}  // namespace live::session::content
