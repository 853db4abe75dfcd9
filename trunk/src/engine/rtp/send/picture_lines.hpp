// PictureLines: the picture IDs of VP8 and VP9 for a player that changes between streams (wire/rtp_payload/picture_ids.hpp): they
// continue across each change. Other codecs have none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "wire/rtp_payload/picture_ids.hpp"

namespace live::engine::rtp {

class PictureLines {
public:
    static constexpr std::size_t kLinesMax = 8;  // changes remembered, for retransmission

    // By the encoding name; other codecs than VP8 and VP9 have no picture IDs, and their payloads stay as they are.
    void set_codec(std::string_view name);
    bool has_codec() const { return format_.has_value(); }
    // The following payloads of `layer`, from this RTP timestamp on, continue after the last one that was rewritten.
    void begin(std::uint8_t layer, std::uint32_t timestamp);
    // Rewrites a payload that is sent for the first time, in order; or one that was sent, which has no effect if its line is
    // forgotten.
    void rewrite_first(MutBytes payload);
    void rewrite_again(std::uint8_t layer, std::uint32_t timestamp, MutBytes payload) const;

private:
    struct Line {
        std::uint8_t layer = 0;
        std::uint32_t timestamp = 0;
        std::optional<std::uint16_t> id_step{};  // added to the picture IDs; nothing before the first payload
        std::uint8_t tl0_step = 0;
    };
    static void rewrite(const Line& line, wire::rtp_payload::PictureIds& ids, MutBytes payload);

    std::optional<wire::rtp_payload::PictureIds> find(Bytes payload) const {
        return format_ ? wire::rtp_payload::find_picture_ids(*format_, payload) : std::nullopt;
    }

    std::optional<wire::rtp_payload::VideoFormat> format_;
    std::vector<Line> lines_;
    std::optional<wire::rtp_payload::PictureIds> last_;  // as sent
};

}  // namespace live::engine::rtp
