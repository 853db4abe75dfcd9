#include "bench/http/flv_skipper.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"

namespace live::bench {
namespace {

namespace flv = wire::flv;
using Octets = std::vector<std::uint8_t>;

struct FlvOutcome {
    std::vector<flv::TagHeader> tags;
    std::vector<Octets> heads;
    std::optional<Errc> failed;
};

FlvOutcome skip_tags(Bytes input, std::size_t portion) {
    FlvSkipper skipper;
    FlvOutcome outcome;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        for (;;) {
            const auto tag = skipper.read(part);
            if (!tag.ok()) {
                outcome.failed = tag.code();
                return outcome;
            }
            if (!*tag)
                break;
            outcome.tags.push_back((*tag)->header);
            outcome.heads.emplace_back((*tag)->head.begin(), (*tag)->head.end());
        }
    }
    return outcome;
}

Octets file_of(std::initializer_list<flv::TagHeader> tags) {
    ByteWriter out;
    flv::write_file_header(out, {true, true});
    for (const flv::TagHeader& tag : tags)
        flv::write_tag(out, tag.type, tag.timestamp_ms, Octets(tag.size, 0x5A));
    return out.release();
}

const std::vector<flv::TagHeader> kTags = {{flv::TagType::script, 10, 0},
                                           {flv::TagType::video, 0, 0},
                                           {flv::TagType::video, 1000, 0x01020304},
                                           {flv::TagType::audio, 64, 40},
                                           {flv::TagType::audio, 65, 60}};

Octets sample() { return file_of({kTags[0], kTags[1], kTags[2], kTags[3], kTags[4]}); }

TEST(FlvSkipper, ReadsTagsHoweverTheyAreCut) {
    const Octets file = sample();
    for (std::size_t portion = 1; portion <= file.size(); portion += portion < 40 ? 1 : 37) {
        const auto outcome = skip_tags(file, portion);
        EXPECT_FALSE(outcome.failed.has_value());
        EXPECT_EQ(outcome.tags, kTags) << portion;
        ASSERT_EQ(outcome.heads.size(), kTags.size());
        EXPECT_EQ(outcome.heads[2], Octets(FlvSkipper::kHeadBytes, 0x5A));
        EXPECT_EQ(outcome.heads[0], Octets(10, 0x5A));
        EXPECT_TRUE(outcome.heads[1].empty());
    }
}

TEST(FlvSkipper, ATruncatedFileGivesFewerTagsAndNoError) {
    const Octets file = sample();
    for (std::size_t size = 0; size + flv::kTagSizeBytes < file.size(); ++size) {
        const auto outcome = skip_tags(Bytes(file).first(size), 11);
        EXPECT_FALSE(outcome.failed.has_value()) << size;
        EXPECT_LT(outcome.tags.size(), kTags.size()) << size;
    }
}

TEST(FlvSkipper, WhatIsNoFlvIsRefused) {
    EXPECT_EQ(skip_tags(as_bytes("<!doctype html><html>"), 100).failed, Errc::malformed);
    EXPECT_EQ(skip_tags(hex("464c56 01 05 00000008 00000000"), 100).failed, Errc::malformed);
}

TEST(FlvSkipper, AnEncryptedTagIsRefused) {
    EXPECT_EQ(skip_tags(hex("464c56 01 05 00000009 00000000 29 000001 000000 00 000000 ff 0000000c"), 100).failed,
              Errc::unsupported);
}

TEST(FlvSkipper, TheFileHeaderHasABound) {
    Octets header = hex("464c56 01 05 00010000");
    EXPECT_FALSE(skip_tags(header, 100).failed.has_value());
    header = hex("464c56 01 05 00010001");
    EXPECT_EQ(skip_tags(header, 100).failed, Errc::limit);
}

}  // namespace
}  // namespace live::bench
