#include "service/dvr/interrupted_recording.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/files/output_file.hpp"
#include "service/dvr/open_recordings.hpp"
#include "wire/flv/file_writer.hpp"

namespace live::service::dvr {
namespace {

using io::kSoon;

std::string flv_of(int tags) {
    ByteWriter out;
    wire::flv::FileWriter writer(Bytes(), "us", out);
    const std::vector<std::uint8_t> body = {0x27, 1, 0, 0, 0, 9};
    for (int i = 0; i < tags; ++i)
        writer.write(wire::flv::TagType::video, static_cast<std::uint32_t>(i) * 40, body, wire::flv::FileWriter::Index::no, out);
    return std::string(as_text(out.written()));
}

TEST(InterruptedRecording, GetsItsNameWithoutIncompleteParts) {
    const ScratchFolder folder;
    folder.write("cam.flv.tmp", flv_of(10) + "part of a tag");
    const auto left = MUST(finish_interrupted_recording(folder.file("cam.flv")));
    EXPECT_EQ(left.path, folder.file("cam.flv"));
    EXPECT_EQ(left.lost_bytes, 13u);
    EXPECT_EQ(left.duration, 360ms);
    EXPECT_EQ(folder.read("cam.flv").size(), flv_of(10).size());
    EXPECT_FALSE(std::filesystem::exists(folder.file("cam.flv.tmp")));
    EXPECT_EQ(finish_interrupted_recording(folder.file("cam.flv")).code(), Errc::not_found);
    EXPECT_EQ(finish_interrupted_recording(folder.file("not/mounted/cam.flv")).code(), Errc::conflict);
}

TEST(InterruptedRecording, KeepsAFileOfThatName) {
    const ScratchFolder folder;
    folder.write("a.b.flv", "precious");
    folder.write("a.b.flv.tmp", flv_of(3));
    const auto left = MUST(finish_interrupted_recording(folder.file("a.b.flv")));
    ASSERT_TRUE(left.path);
    EXPECT_TRUE(left.path->starts_with(folder.file("a.b."))) << *left.path;
    EXPECT_TRUE(left.path->ends_with(".flv") && std::filesystem::exists(*left.path)) << *left.path;
    EXPECT_EQ(folder.read("a.b.flv"), "precious");
}

TEST(InterruptedRecording, IsRemovedWithoutMediaAndKeptIfForeign) {
    const ScratchFolder folder;
    folder.write("none.flv.tmp", flv_of(0));
    EXPECT_FALSE(MUST(finish_interrupted_recording(folder.file("none.flv"))).path);
    folder.write("empty.mp4.tmp", "");
    EXPECT_FALSE(MUST(finish_interrupted_recording(folder.file("empty.mp4"))).path);
    EXPECT_FALSE(std::filesystem::exists(folder.file("none.flv.tmp")) || std::filesystem::exists(folder.file("empty.mp4.tmp")));
    folder.write("other.mp4.tmp", "somebody's text");
    EXPECT_EQ(finish_interrupted_recording(folder.file("other.mp4")).code(), Errc::malformed);
    EXPECT_EQ(folder.read("other.mp4.tmp"), "somebody's text");
}

TEST(InterruptedRecording, IsKeptWhileItIsWritten) {
    const auto loop = MUST(io::Loop::create());
    const ScratchFolder folder;
    const auto file = MUST(io::OutputFile::create(folder.file("x.flv"), io::Deadline::after(kSoon)));
    EXPECT_EQ(finish_interrupted_recording(folder.file("x.flv")).code(), Errc::conflict);
}

TEST(OpenRecordings, AreListedUntilTheyAreRemoved) {
    const auto loop = MUST(io::Loop::create());
    const auto soon = io::Deadline::after(kSoon);
    const ScratchFolder folder;
    OpenRecordings open(folder.file("srs.dvr"));
    EXPECT_TRUE(MUST(open.left(soon)).empty());
    OpenRecording one;
    one.path = "/rec/cam.flv";
    one.file = "./rec/cam.flv";
    one.url = "/live/cam";
    one.request.stream = "cam \"\xff";
    const std::string name = MUST(open.add(one, soon));
    MUST(open.add(one, soon));
    folder.write("srs.dvr/odd.json", "{\"path\":7}");
    const auto left = MUST(open.left(soon));
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(left[0].recording.path, one.path);
    EXPECT_EQ(left[0].recording.file, one.file);
    EXPECT_EQ(left[0].recording.request.stream, "cam \"\xef\xbf\xbd") << "invalid UTF-8 is replaced";
    EXPECT_FALSE(std::filesystem::exists(folder.file("srs.dvr/odd.json")));
    MUST(open.remove(name, soon));
    EXPECT_EQ(MUST(open.left(soon)).size(), 1u);
}

TEST(OpenRecordings, RefuseBrokenText) {
    const std::string text = text_of({.path = "/a", .file = "a", .request = {}, .vhost = "v", .url = "/u"});
    EXPECT_TRUE(parse_open_recording(text).ok());
    // The last byte is the line feed.
    for (std::size_t size = 0; size + 1 < text.size(); ++size)
        EXPECT_EQ(parse_open_recording(text.substr(0, size)).code(), Errc::malformed) << size;
    EXPECT_EQ(parse_open_recording(text_of({.path = "relative", .file = {}, .request = {}, .vhost = {}, .url = {}})).code(),
              Errc::malformed);
}

}  // namespace
}  // namespace live::service::dvr
