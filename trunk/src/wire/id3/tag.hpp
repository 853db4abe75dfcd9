// ID3 tags as timed metadata ("Timed Metadata for HTTP Live Streaming"): version 2.4 with TXXX and PRIV frames, writing; reading
// the frames of versions 2.3 and 2.4. Not the tags of audio files: no unsynchronisation, no compression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::id3 {

// Limit of one tag, header included. Longer ones are refused, and the writers make none.
inline constexpr std::size_t kTagBytesMax = 16U << 10;

// A user-defined text, in UTF-8 (ID3v2.4 native frames, 4.2.6). `name` must not contain a zero byte, and the tag must not exceed
// kTagBytesMax.
std::vector<std::uint8_t> write_text_tag(std::string_view name, std::string_view text);
// A private frame (4.27), with the same limits.
std::vector<std::uint8_t> write_private_tag(std::string_view owner, Bytes data);

struct Frame {
    std::string id;  // of four characters
    Bytes data;      // borrowed
};
// The frames of one complete tag with nothing after it. Errc::need_more: cut; Errc::malformed; Errc::limit;
// Errc::unsupported: another version, or flags that change the frames.
Result<std::vector<Frame>> parse_tag(Bytes tag);

}  // namespace live::wire::id3
