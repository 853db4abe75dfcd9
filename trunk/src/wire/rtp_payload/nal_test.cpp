#include "wire/rtp_payload/nal.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

constexpr std::size_t kRoom = 1'180;

struct NalCase {
    const char* name;
    NalCodec codec;
    std::vector<Octets> payloads;
    Octets frame;
    bool is_key;
};

const std::vector<NalCase>& nal_cases() {
    static const std::vector<NalCase> table = {
        {"AVC single", NalCodec::avc, {hex("419a01")}, hex("00000003 419a01"), false},
        {"AVC STAP-A and IDR",
         NalCodec::avc,
         {hex("78 0002 6764 0003 68ee01"), hex("6588")},
         hex("00000002 6764 00000003 68ee01 00000002 6588"),
         true},
        {"AVC FU-A of an IDR",
         NalCodec::avc,
         {hex("7c85 88aa"), hex("7c05 bb"), hex("7c45 cc")},
         hex("00000005 65 88aabbcc"),
         true},
        {"HEVC single", NalCodec::hevc, {hex("0201 d0aa")}, hex("00000004 0201 d0aa"), false},
        {"HEVC aggregate",
         NalCodec::hevc,
         {hex("6001 0003 400101 0003 420102 0003 440103"), hex("2601 af")},
         hex("00000003 400101 00000003 420102 00000003 440103 00000003 2601af"),
         true},
        {"HEVC fragments of an IDR",
         NalCodec::hevc,
         {hex("6201 93 af01"), hex("6201 13 02"), hex("6201 53 03")},
         hex("00000006 2601 af010203"),
         true},
        // Fragments, the first with three bytes of extension (TSCI), and a unit without one.
        {"HEVC in PACI packets",
         NalCodec::hevc,
         {hex("6401 6238 aabbcc 93 af01"), hex("6401 6200 53 02"), hex("6401 4e00 0501")},
         hex("00000005 2601 af0102 00000004 4e01 0501"),
         true},
    };
    return table;
}

std::vector<Frame> nal_frames_of(const NalCase& wanted) {
    NalDepacketizer depacketizer(wanted.codec);
    PayloadList list;
    for (const Octets& payload : wanted.payloads) {
        list.append(payload);
        list.end_payload();
    }
    Stream stream;
    stream.add(list, 90);
    return received(depacketizer, stream);
}

TEST(NalPayload, ReadsEveryVector) {
    for (const NalCase& wanted : nal_cases()) {
        const auto frames = nal_frames_of(wanted);
        ASSERT_EQ(frames.size(), 1U) << wanted.name;
        EXPECT_EQ(frames[0].data, wanted.frame) << wanted.name;
        EXPECT_EQ(frames[0].is_key, wanted.is_key) << wanted.name;
        EXPECT_EQ(frames[0].timestamp, 90U);
        EXPECT_FALSE(frames[0].follows_loss);
        EXPECT_EQ(frames[0].last_sequence - frames[0].first_sequence + 1, wanted.payloads.size());
    }
}

TEST(NalPayload, ATruncatedPayloadNeverPassesForTheWhole) {
    for (const NalCase& wanted : nal_cases())
        for (std::size_t which = 0; which < wanted.payloads.size(); ++which)
            for (std::size_t size = 0; size < wanted.payloads[which].size(); ++size) {
                NalCase cut = wanted;
                cut.payloads[which].resize(size);
                const auto frames = nal_frames_of(cut);
                EXPECT_TRUE(frames.empty() || frames[0].data != wanted.frame) << wanted.name;
            }
}

TEST(NalPayload, AggregatesAndFragmentsByThisText) {
    PayloadList out;
    ASSERT_TRUE(packetize_nal(NalCodec::avc, hex("00000002 6764 00000003 68ee01 00000002 6588"), kRoom, out).ok());
    ASSERT_EQ(out.size(), 1U);
    EXPECT_EQ(Octets(out[0].begin(), out[0].end()), hex("78 0002 6764 0003 68ee01 0002 6588"));
    out.clear();
    ASSERT_TRUE(packetize_nal(NalCodec::hevc, hex("00000003 400101 00000003 420102"), kRoom, out).ok());
    EXPECT_EQ(Octets(out[0].begin(), out[0].end()), hex("6001 0003 400101 0003 420102"));
    out.clear();
    Octets unit(4 + 100, 0xAB);
    unit[0] = unit[1] = unit[2] = 0;
    unit[3] = 100;
    unit[4] = 0x65;
    ASSERT_TRUE(packetize_nal(NalCodec::avc, unit, 64, out).ok());
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(out[0][0], 0x7C);
    EXPECT_EQ(out[0][1], 0x85);
    EXPECT_EQ(out[1][1], 0x45);
    EXPECT_EQ(out[0].size() + out[1].size(), 99U + 4) << "pieces of nearly one length";
    EXPECT_LE(out[0].size(), 64U);
}

Octets random_nal_frame(std::mt19937& random, NalCodec codec, bool first_slice) {
    Octets frame;
    const std::size_t units = 1 + random() % 5;
    for (std::size_t i = 0; i < units; ++i) {
        Octets unit = random_octets(random, random_size(random, 3));
        const bool avc = codec == NalCodec::avc;
        unit[0] = avc ? static_cast<std::uint8_t>((random() & 0x60) | (random() % 2 == 0 ? 5 : 1))
                      : static_cast<std::uint8_t>((random() % 2 == 0 ? 19 : 1) << 1);
        std::uint8_t& slice = unit[avc ? 1 : 2];
        slice = static_cast<std::uint8_t>(i == 0 && first_slice ? slice | 0x80 : slice & 0x7F);
        if (!avc)
            unit[1] = 1;
        for (std::size_t shift = 32; shift > 0; shift -= 8)
            frame.push_back(static_cast<std::uint8_t>(unit.size() >> (shift - 8)));
        frame.insert(frame.end(), unit.begin(), unit.end());
    }
    return frame;
}

TEST(NalPayload, ReceivesTheFramesSent) {
    for (const NalCodec codec : {NalCodec::avc, NalCodec::hevc})
        for (unsigned seed = 0; seed < 12; ++seed) {
            std::mt19937 random(seed);
            Stream stream;
            std::vector<Octets> sent;
            const std::size_t room = kPayloadBytesMin + random() % 1'200;
            for (std::uint32_t i = 0; i < 10; ++i) {
                sent.push_back(random_nal_frame(random, codec, true));
                PayloadList list;
                ASSERT_TRUE(packetize_nal(codec, sent.back(), room, list).ok());
                for (std::size_t p = 0; p < list.size(); ++p)
                    ASSERT_LE(list[p].size(), room);
                stream.add(list, i);
            }
            NalDepacketizer depacketizer(codec);
            const auto frames = received(depacketizer, stream);
            ASSERT_EQ(frames.size(), sent.size()) << "seed " << seed;
            for (std::size_t i = 0; i < sent.size(); ++i)
                EXPECT_EQ(frames[i].data, sent[i]) << "seed " << seed;
        }
}

TEST(NalPayload, LossNeverGivesABrokenFrame) {
    for (const NalCodec codec : {NalCodec::avc, NalCodec::hevc})
        for (unsigned seed = 0; seed < 12; ++seed) {
            std::mt19937 random(seed);
            Stream stream;
            std::vector<Octets> sent;
            for (std::uint32_t i = 0; i < 30; ++i) {
                sent.push_back(random_nal_frame(random, codec, true));
                PayloadList list;
                ASSERT_TRUE(packetize_nal(codec, sent.back(), 400, list).ok());
                stream.add(list, i);
            }
            for (Stream::Sent& packet : stream.packets)
                packet.lost = random() % 20 == 0;
            NalDepacketizer depacketizer(codec);
            const auto frames = received(depacketizer, stream);
            std::size_t whole = 0;
            for (std::uint32_t i = 0; i < 30; ++i)
                whole += stream.has_all_of(i) ? 1 : 0;
            EXPECT_EQ(frames.size(), whole) << "seed " << seed
                                            << ": a whole frame is never lost, since each says where it begins";
            for (const Frame& frame : frames)
                EXPECT_EQ(frame.data, sent[frame.timestamp]) << "seed " << seed;
        }
}

TEST(NalPayload, MiddleSliceIsNoFrameStart) {
    NalDepacketizer depacketizer(NalCodec::avc);
    const Octets middle = hex("411a");
    ASSERT_TRUE(depacketizer.push({1, 1, true, middle}).ok());
    EXPECT_FALSE(depacketizer.poll());
    ASSERT_TRUE(depacketizer.push({2, 2, true, middle}).ok());
    EXPECT_TRUE(depacketizer.poll()) << "behind no loss it is taken";
}

TEST(NalPayload, RefusesInvalidFormats) {
    const std::pair<NalCodec, const char*> cases_[] = {
        {NalCodec::avc, "78"},          {NalCodec::avc, "780003aabb"}, {NalCodec::avc, "780000"},    {NalCodec::avc, "7c05aa"},
        {NalCodec::avc, "7c9caa"},      {NalCodec::avc, "7800027801"}, {NalCodec::hevc, "6201b332"}, {NalCodec::avc, "7c85"},
        {NalCodec::avc, "79000000"},    {NalCodec::avc, "00aa"},       {NalCodec::hevc, "60"},       {NalCodec::hevc, "6001"},
        {NalCodec::hevc, "60010005aa"}, {NalCodec::hevc, "620113aa"},  {NalCodec::hevc, "64010000"},
    };
    for (const auto& [codec, text] : cases_) {
        NalDepacketizer depacketizer(codec);
        const Octets good = codec == NalCodec::avc ? hex("6588") : hex("2601af");
        ASSERT_TRUE(depacketizer.push({1, 1, true, good}).ok());
        const Octets bytes = hex(text);
        EXPECT_FALSE(depacketizer.push({2, 2, false, bytes}).ok()) << text;
        ASSERT_TRUE(depacketizer.push({3, 2, true, good}).ok());
        EXPECT_TRUE(depacketizer.poll());
        EXPECT_FALSE(depacketizer.poll()) << "the frame of the bad packet is lost";
        ASSERT_TRUE(depacketizer.push({4, 3, true, good}).ok());
        EXPECT_TRUE(depacketizer.poll()) << "the next is not";
        EXPECT_EQ(depacketizer.lost_frames(), 1U);
    }
}

TEST(NalPayload, AUnitWithoutItsEndIsLost) {
    NalDepacketizer depacketizer(NalCodec::avc);
    const Octets start = hex("7c8588aa");
    ASSERT_TRUE(depacketizer.push({1, 1, false, start}).ok());
    ASSERT_TRUE(depacketizer.push({2, 1, true, hex("6588")}).code() == Errc::malformed);
    EXPECT_FALSE(depacketizer.poll());
    EXPECT_EQ(depacketizer.lost_frames(), 1U);
    ASSERT_TRUE(depacketizer.push({3, 2, false, start}).ok());
    const Octets next = hex("6588");
    ASSERT_TRUE(depacketizer.push({4, 3, true, next}).ok());
    EXPECT_EQ(depacketizer.poll()->timestamp, 3U) << "another time ends it as the marker does";
    EXPECT_EQ(depacketizer.lost_frames(), 2U);
}

// Some cameras mark fragments in another way than RFC 6184, 5.8, and send private units.
TEST(NalPayload, AcceptsTheHabitsOfCameras) {
    const auto read = [](std::initializer_list<const char*> payloads) {
        NalDepacketizer depacketizer(NalCodec::avc);
        std::uint64_t sequence = 0;
        for (const char* payload : payloads) {
            const Octets bytes = hex(payload);
            EXPECT_TRUE(depacketizer.push({++sequence, 1, sequence == payloads.size(), bytes}).ok()) << payload;
        }
        const auto frame = depacketizer.poll();
        return frame ? frame->data : Octets();
    };
    EXPECT_EQ(read({"7c8588aa", "7c05bb"}), hex("00000004 6588aabb")) << "no end bit: the marker ends the image";
    EXPECT_EQ(read({"7c8588", "7c81cc", "7c41dd"}), hex("00000002 6588 00000003 61ccdd")) << "no end bit before the next unit";
    EXPECT_EQ(read({"7cc588"}), hex("00000002 6588")) << "both bits";
    EXPECT_EQ(read({"7c8588", "7e00", "7c45aa", "7f11"}), hex("00000003 6588aa")) << "types 30 and 31";
}

TEST(NalPayload, LengthsThatDoNotFitAreRefused) {
    PayloadList out;
    EXPECT_EQ(packetize_nal(NalCodec::avc, hex("00000003 6588"), kRoom, out).code(), Errc::malformed);
    EXPECT_EQ(packetize_nal(NalCodec::avc, hex("00000000"), kRoom, out).code(), Errc::malformed);
    EXPECT_EQ(packetize_nal(NalCodec::avc, hex("000000"), kRoom, out).code(), Errc::malformed);
    EXPECT_TRUE(out.empty());
    EXPECT_TRUE(packetize_nal(NalCodec::avc, hex("00000002 7800 00000002 6588"), kRoom, out).ok());
    ASSERT_EQ(out.size(), 1U) << "what only packets may hold is left out";
    EXPECT_EQ(out[0][0], 0x65);
    Octets many;
    for (std::size_t i = 0; i <= 1'024; ++i)
        many.insert(many.end(), {0, 0, 0, 1, 0x65});
    EXPECT_EQ(packetize_nal(NalCodec::avc, many, kRoom, out).code(), Errc::limit);
    EXPECT_TRUE(packetize_nal(NalCodec::avc, Bytes(many).first(many.size() - 5), kRoom, out).ok());
}

}  // namespace
}  // namespace live::wire::rtp_payload
