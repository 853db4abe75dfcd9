#include "wire/flv/file_writer.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/amf/amf.hpp"

namespace live::wire::flv {
namespace {

using Body = std::vector<std::uint8_t>;

// A file as it would be on disk.
struct File {
    ByteWriter out;
    FileWriter writer;

    explicit File(Bytes metadata = {}) : writer(metadata, "us", out) {}
    void video(std::uint32_t ms, FileWriter::Index index = FileWriter::Index::no) {
        writer.write(TagType::video, ms, hex("27 01 000000 00000001 41"), index, out);
    }
    Body closed() {
        const FilePatch patch = writer.finish();
        Body bytes(out.written().begin(), out.written().end());
        EXPECT_EQ(patch.offset, 0u);
        std::copy(patch.bytes.begin(), patch.bytes.end(), bytes.begin());
        return bytes;
    }
};

std::vector<Tag> tags_of(Bytes file, std::optional<FileHeader>& header) {
    std::vector<Tag> tags;
    FlvReader reader;
    while (!file.empty()) {
        const auto taken = reader.feed(file);
        EXPECT_TRUE(taken.ok());
        file = file.subspan(*taken);
        while (auto tag = reader.next())
            tags.push_back(std::move(*tag));
    }
    header = reader.file_header();
    return tags;
}

amf::Value metadata_of(const Tag& tag) {
    ByteReader in(tag.body.bytes());
    EXPECT_EQ(MUST(amf::read_amf0(in)), amf::Value("onMetaData"));
    auto values = MUST(amf::read_amf0(in));
    EXPECT_TRUE(in.at_end());
    return values;
}

Body message(const amf::Value& values) {
    ByteWriter out;
    amf::write_amf0(out, "onMetaData");
    amf::write_amf0(out, values);
    return out.release();
}

TEST(FlvFileWriter, WritesDurationAndKeyFramesAtTheEnd) {
    const auto sent = amf::Value::object({{"width", 640}, {"duration", 7}, {"filler", "x"}, {"encoder", "e"}});
    File file(message(sent));
    file.video(0, FileWriter::Index::yes);
    file.writer.write(TagType::audio, 10, hex("af 01 21"), FileWriter::Index::no, file.out);
    file.video(40);
    file.video(2'000, FileWriter::Index::yes);
    file.video(2'040);
    const Body bytes = file.closed();
    std::optional<FileHeader> header;
    const auto tags = tags_of(bytes, header);
    EXPECT_EQ(header, (FileHeader{true, true}));
    ASSERT_EQ(tags.size(), 6u);
    EXPECT_EQ(tags[4].header.timestamp_ms, 2'000u);
    const amf::Value values = metadata_of(tags[0]);
    EXPECT_EQ(*values.find("width"), amf::Value(640));
    EXPECT_EQ(*values.find("encoder"), amf::Value("e"));
    EXPECT_EQ(*values.find("service"), amf::Value("us"));
    EXPECT_EQ(*values.find("duration"), amf::Value(2.04));
    EXPECT_EQ(*values.find("filesize"), amf::Value(bytes.size()));
    EXPECT_EQ(*values.find("lastkeyframetimestamp"), amf::Value(2.0));
    EXPECT_EQ(*values.find("hasKeyframes"), amf::Value(true));
    const amf::Value& index = *values.find("keyframes");
    EXPECT_EQ(*index.find("times"), amf::Value::strict_array({0, 2.0}));
    const auto positions = index.find("filepositions")->members();
    ASSERT_EQ(positions.size(), 2u);
    for (const auto& one : positions)
        EXPECT_EQ(bytes.at(static_cast<std::size_t>(*one.value.number())), 9) << "a video tag begins there";
}

TEST(FlvFileWriter, AFileThatWasNotClosedCanBeRead) {
    File file;
    file.video(0, FileWriter::Index::yes);
    std::optional<FileHeader> header;
    const auto tags = tags_of(file.out.written(), header);
    ASSERT_EQ(tags.size(), 2u);
    EXPECT_EQ(*metadata_of(tags[0]).find("duration"), amf::Value(0));
    EXPECT_EQ(header, (FileHeader{true, true}));
}

TEST(FlvFileWriter, HeaderFlagsTheKindsWritten) {
    File file;
    file.video(0);
    EXPECT_EQ(file.writer.tags(), 1u);
    std::optional<FileHeader> header;
    tags_of(file.closed(), header);
    EXPECT_EQ(header, (FileHeader{.has_audio = false, .has_video = true}));
}

TEST(FlvFileWriter, ListsConfigurationsAndCodecs) {
    File file;
    const auto write = [&file](TagType type, std::string_view body) {
        file.writer.write(type, 0, hex(body), FileWriter::Index::no, file.out);
        return file.writer.bytes();
    };
    std::vector<std::uint64_t> places = {file.writer.bytes()};
    places.push_back(write(TagType::video, "17 00 000000 01"));
    write(TagType::audio, "2f 01");  // MP3, whose frames are their configuration
    write(TagType::audio, "2f 02");
    write(TagType::video, "17 00 000000 01");  // repeated
    write(TagType::script, "02 0001 61");
    places.push_back(write(TagType::video, "27 01 000000 41"));
    places.push_back(write(TagType::video, "17 00 000000 02"));
    write(TagType::audio, "af 00 1210");
    const Body bytes = file.closed();
    std::optional<FileHeader> header;
    const auto metadata = tags_of(bytes, header).at(0).body;
    const auto index = read_file_index(metadata.bytes(), bytes.size());
    ASSERT_TRUE(index);
    EXPECT_EQ(index->formats, places);
    EXPECT_FALSE(read_file_index(metadata.bytes(), bytes.size() + 1)) << "the file has been changed";
    for (std::size_t size = 0; size < metadata.size(); size += 37)
        EXPECT_FALSE(read_file_index(metadata.bytes().first(size), bytes.size()));
    EXPECT_FALSE(read_file_index(tags_of(file.out.written(), header).at(0).body.bytes(), bytes.size())) << "not closed";
}

TEST(FlvFileWriter, SaysThatItsListOfConfigurationsIsFull) {
    File file;
    const std::size_t beginning = file.out.size();
    for (std::size_t i = 0; i <= FileWriter::kFormatsMax; ++i) {
        std::optional<FileHeader> header;
        const Body bytes = file.closed();
        const auto metadata = tags_of(bytes, header).at(0).body;
        EXPECT_EQ(file.writer.finish().bytes.size(), beginning) << i;
        EXPECT_EQ(read_file_index(metadata.bytes(), bytes.size()).has_value(), i > 0) << i;
        file.writer.write(TagType::video, 0, Body{0x17, 0, 0, 0, 0, static_cast<std::uint8_t>(i)}, FileWriter::Index::no,
                          file.out);
    }
    std::optional<FileHeader> header;
    const Body bytes = file.closed();
    EXPECT_FALSE(read_file_index(tags_of(bytes, header).at(0).body.bytes(), bytes.size()));
}

TEST(FlvFileWriter, RemovesIndexEntriesAfterTruncation) {
    File file;
    file.video(0, FileWriter::Index::yes);
    const auto kept = file.writer.bytes();
    file.video(1'000, FileWriter::Index::yes);
    file.writer.forget_behind(kept);
    std::optional<FileHeader> header;
    const auto values = metadata_of(tags_of(file.closed(), header).at(0));
    EXPECT_EQ(values.find("keyframes")->find("times")->members().size(), 1u);
    EXPECT_EQ(*values.find("filesize"), amf::Value(kept));
}

TEST(FlvFileWriter, OmitsUnreadableMetadata) {
    const auto whole = message(amf::Value::ecma_array({{"width", 640}}));
    for (std::size_t size = 0; size < whole.size(); ++size) {
        File file(Bytes(whole).first(size));
        std::optional<FileHeader> header;
        EXPECT_EQ(metadata_of(tags_of(file.out.written(), header).at(0)).find("width"), nullptr) << size;
    }
    File other(message("no object"));
    EXPECT_EQ(other.writer.tags(), 0u);
}

TEST(FlvFileWriter, ThinsTheIndexAtItsLimit) {
    File file;
    const auto index_at = [&file] {
        std::optional<FileHeader> header;
        const auto values = metadata_of(tags_of(file.closed(), header).at(0));
        std::vector<double> times;
        for (const auto& one : values.find("keyframes")->find("times")->members())
            times.push_back(*one.value.number());
        return times;
    };
    std::uint32_t second = 0;
    for (; second < FileWriter::kIndexMax; ++second)
        file.video(second * 1'000, FileWriter::Index::yes);
    EXPECT_EQ(index_at().size(), FileWriter::kIndexMax);
    file.video(second++ * 1'000, FileWriter::Index::yes);
    EXPECT_EQ(index_at().size(), FileWriter::kIndexMax / 2 + 1);
    for (; second < 3 * FileWriter::kIndexMax; ++second)
        file.video(second * 1'000, FileWriter::Index::yes);
    const auto times = index_at();
    EXPECT_LE(times.size(), FileWriter::kIndexMax);
    for (std::size_t i = 0; i < times.size(); ++i)
        EXPECT_EQ(times[i], 4.0 * static_cast<double>(i)) << "even distances";
}

}  // namespace
}  // namespace live::wire::flv
