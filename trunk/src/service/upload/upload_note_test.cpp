#include "service/upload/upload_note.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace live::service::upload {
namespace {

const NoteText kNotes[] = {
    {}, {"live/cam 1.mp4", "2~abc", 16U << 20, ""}, {"live/cam.mp4", "", 0, "900150983cd24fb0d6963f7d28e17f72"}};

TEST(UploadNote, IsReadAsItWasWritten) {
    for (const NoteText& note : kNotes) {
        const std::string text = text_of(note);
        EXPECT_EQ(MUST(parse_note(text)), note);
        for (std::size_t size = 0; size < text.size(); ++size)
            EXPECT_EQ(parse_note(text.substr(0, size)).code(), Errc::malformed) << "a note that was cut off";
    }
    EXPECT_FALSE(parse_note("millrace upload 1\npart x\nend\n").ok());
    EXPECT_FALSE(parse_note("millrace upload 2\nend\n").ok());
}

class NotedFileTest : public testing::Test {
protected:
    NotedFileTest() {
        std::filesystem::create_directory(folder);
        std::ofstream(path) << "media";
    }
    ~NotedFileTest() override { std::filesystem::remove_all(folder); }

    const std::string folder = testing::TempDir() + "upload-note-" + std::to_string(::getpid());
    const std::string path = folder + "/cam.mp4";
};

TEST_F(NotedFileTest, KeepsItsNoteForTheNextProcess) {
    {
        const auto file = MUST(NotedFile::open(path));
        EXPECT_EQ(file.bytes(), 5U);
        EXPECT_EQ(file.note(), NoteText());
        EXPECT_EQ(MUST(file.read(1, 10)), (std::vector<std::uint8_t>{'e', 'd', 'i', 'a'}));
        EXPECT_EQ(NotedFile::open(path).code(), Errc::conflict) << "another one uploads it";
        MUST(file.write(kNotes[2]));
        MUST(file.write(kNotes[1]));
    }
    EXPECT_TRUE(with_done({path, folder + "/none.mp4"}).empty());
    {
        const auto file = MUST(NotedFile::open(path));
        EXPECT_EQ(file.note(), kNotes[1]);
        MUST(file.write(kNotes[2]));
    }
    EXPECT_TRUE(with_done({path}).contains(path));
    const auto file = MUST(NotedFile::open(path));
    EXPECT_TRUE(file.note().is_done());
    std::filesystem::remove(path);
    EXPECT_EQ(file.read(0, 1).code(), Errc::not_found);
    file.remove_note();
    EXPECT_FALSE(std::filesystem::exists(note_path(path)));
    EXPECT_EQ(NotedFile::open(path).code(), Errc::not_found);
}

}  // namespace
}  // namespace live::service::upload
