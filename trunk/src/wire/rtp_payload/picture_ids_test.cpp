#include "wire/rtp_payload/picture_ids.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::wire::rtp_payload {
namespace {

using PictureOctets = std::vector<std::uint8_t>;

struct PictureVector {
    const char* name;
    VideoFormat format;
    PictureOctets payload;
    std::optional<PictureIds> ids;
};

const std::vector<PictureVector>& picture_vectors() {
    static const std::vector<PictureVector> all = {
        {"VP8 without extension", VideoFormat::vp8, {0x10, 0x9D}, std::nullopt},
        {"VP8 without picture ID", VideoFormat::vp8, {0x90, 0x40, 7, 0x9D}, std::nullopt},
        {"VP8, 7 bits", VideoFormat::vp8, {0x90, 0x80, 0x11, 0x9D}, PictureIds{.id_at = 2, .id = 0x11}},
        {"VP8, 15 bits, as libwebrtc sends it",
         VideoFormat::vp8,
         {0x90, 0xE0, 0x92, 0x34, 0x56, 0x20, 0x9D},
         PictureIds{.id_at = 2, .id_bits = 15, .id = 0x1234, .tl0_at = 4, .tl0 = 0x56}},
        {"VP9 without picture ID", VideoFormat::vp9, {0x0C, 0x9D}, std::nullopt},
        {"VP9, 15 bits", VideoFormat::vp9, {0x8C, 0xFF, 0xFF, 0x9D}, PictureIds{.id_at = 1, .id_bits = 15, .id = 0x7FFF}},
        {"VP9 with layers",
         VideoFormat::vp9,
         {0xAC, 0x92, 0x34, 0x20, 0x56, 0x9D},
         PictureIds{.id_at = 1, .id_bits = 15, .id = 0x1234, .tl0_at = 4, .tl0 = 0x56}},
        {"VP9 with layers, flexible", VideoFormat::vp9, {0xBC, 0x12, 0x20, 0x9D}, PictureIds{.id_at = 1, .id = 0x12}},
        {"H.264", VideoFormat::avc, {0x90, 0x80, 0x11, 0x9D}, std::nullopt},
    };
    return all;
}

TEST(PictureIds, AreFoundAndWritten) {
    for (const PictureVector& vector : picture_vectors()) {
        const auto found = find_picture_ids(vector.format, vector.payload);
        EXPECT_EQ(found, vector.ids) << vector.name;
        if (!found)
            continue;
        PictureOctets same = vector.payload;
        write_picture_ids(same, *found);
        EXPECT_EQ(same, vector.payload) << vector.name;
        PictureIds next = *found;
        next.id = static_cast<std::uint16_t>((next.id + 1U) & (next.id_bits == 15 ? 0x7FFFU : 0x7FU));
        ++next.tl0;
        write_picture_ids(same, next);
        if (!next.tl0_at)
            next.tl0 = 0;
        EXPECT_EQ(find_picture_ids(vector.format, same), next) << vector.name;
    }
}

TEST(PictureIds, EveryTruncationIsReadOrRefused) {
    for (const PictureVector& vector : picture_vectors())
        for (std::size_t bytes = 0; bytes < vector.payload.size(); ++bytes) {
            PictureOctets cut(vector.payload.begin(), vector.payload.begin() + static_cast<std::ptrdiff_t>(bytes));
            if (const auto found = find_picture_ids(vector.format, cut)) {
                EXPECT_LT(found->id_at, bytes) << vector.name;
                write_picture_ids(cut, *found);
            }
        }
}

}  // namespace
}  // namespace live::wire::rtp_payload
