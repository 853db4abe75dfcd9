// Compression of response bodies (gzip, RFC 1952), each body once and not once per client.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live::session::content {

// Shorter bodies fit into one packet either way.
inline constexpr std::size_t kGzipBodyMin = 1 << 10;

// Blocks for about 15 ms per MiB. Empty when zlib has no memory.
std::string gzip(Bytes body);
// Whether bodies of this Content-Type become smaller: text, JSON, scripts, playlists.
bool is_compressible(std::string_view content_type);

// Its owners are the newest bodies and the responses in progress.
using PackedBodyRef = std::shared_ptr<const std::string>;

// Bodies that are generated for each request, such as playlists and JSON: compressed when the same body is sent for the second
// time.
class RepeatedBodies {
public:
    // Larger bodies would hold the loop for more than a millisecond.
    static constexpr std::size_t kBodyMax = 64 << 10;
    // Compressed bodies kept, the newest.
    static constexpr std::size_t kKeptMax = 32;
    // Bodies sent once that are recognized when they are sent again.
    static constexpr std::size_t kSeenMax = 256;

    // nullptr: this body is sent as it is.
    PackedBodyRef compressed(std::string_view body);

private:
    struct Kept {
        std::size_t hash = 0;
        std::string body;  // compared, because clients can influence bodies and so the hashes
        PackedBodyRef gzip;
    };

    std::array<std::size_t, kSeenMax> seen_{};  // hashes
    std::vector<Kept> kept_;
    std::size_t next_ = 0;  // place of the next one kept
};

}  // namespace live::session::content
