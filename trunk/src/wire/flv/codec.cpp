#include "wire/flv/codec.hpp"

#include <array>
#include <span>

namespace live::wire::flv {

namespace {

struct Row {
    Codec codec;
    std::uint32_t fourcc;
};

constexpr std::array kVideo = {
    Row{Codec::avc, fourcc('a', 'v', 'c', '1')},
    Row{Codec::hevc, fourcc('h', 'v', 'c', '1')},
    Row{Codec::av1, fourcc('a', 'v', '0', '1')},
    Row{Codec::vp9, fourcc('v', 'p', '0', '9')},
    Row{Codec::vp8, fourcc('v', 'p', '0', '8')},
    // Between the nodes of this server only: no player has it.
    Row{Codec::mjpeg, fourcc('m', 'j', 'p', 'g')},
};

constexpr std::array kAudio = {
    Row{Codec::aac, fourcc('m', 'p', '4', 'a')}, Row{Codec::opus, fourcc('O', 'p', 'u', 's')},
    Row{Codec::mp3, fourcc('.', 'm', 'p', '3')}, Row{Codec::flac, fourcc('f', 'L', 'a', 'C')},
    Row{Codec::ac3, fourcc('a', 'c', '-', '3')}, Row{Codec::eac3, fourcc('e', 'c', '-', '3')},
};

Codec codec_in(std::span<const Row> rows, std::uint32_t fourcc) {
    for (const Row& row : rows)
        if (row.fourcc == fourcc)
            return row.codec;
    return Codec::unknown;
}

}  // namespace

Codec video_codec_of(std::uint32_t fourcc) { return codec_in(kVideo, fourcc); }

Codec audio_codec_of(std::uint32_t fourcc) { return codec_in(kAudio, fourcc); }

std::optional<std::uint32_t> fourcc_of(Codec codec) {
    for (const std::span<const Row> rows : {std::span<const Row>(kVideo), std::span<const Row>(kAudio)})
        for (const Row& row : rows)
            if (row.codec == codec)
                return row.fourcc;
    return std::nullopt;
}

}  // namespace live::wire::flv
