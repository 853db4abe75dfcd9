// UploadNote: the state of a file's upload, in a small text file beside it (PATH.upload): the id of an upload in parts, with
// which another process continues it, or the complete object. The note of a file that is being uploaded is locked: workers and
// other servers with the same folder leave the file alone. The lock ends with the process.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace live::service::upload {

struct NoteText {
    std::string key;        // of the object
    std::string upload_id;  // of the upload in parts
    std::uint64_t part_bytes = 0;
    std::string done_etag;  // the object is complete

    bool is_done() const { return !done_etag.empty(); }
    bool operator==(const NoteText&) const = default;
};

inline constexpr std::size_t kNoteBytesMax = 8 << 10;

// Both are dry; Errc::malformed.
std::string text_of(const NoteText& note);
Result<NoteText> parse_note(std::string_view text);

std::string note_path(const std::string& path);

// The functions below block: call them in a worker.
// The paths whose notes have is_done().
std::set<std::string> with_done(const std::vector<std::string>& paths);

// A file of which an upload is under way, and its note.
class NotedFile {
public:
    // Errc::not_found: there is no such file; Errc::conflict: another process uploads it; Errc::system.
    static Result<NotedFile> open(const std::string& path);
    NotedFile(NotedFile&& other) noexcept;
    NotedFile& operator=(NotedFile&&) = delete;
    ~NotedFile();

    // As it was when the file was opened; empty if it cannot be read.
    const NoteText& note() const { return note_; }
    std::uint64_t bytes() const { return bytes_; }
    // Errc::system.
    Result<void> write(const NoteText& note) const;
    void remove_note() const;
    // Fewer at the end. Errc::not_found when the file was removed meanwhile, Errc::system.
    Result<std::vector<std::uint8_t>> read(std::uint64_t offset, std::size_t count) const;

private:
    NotedFile(std::string path, int file, int note) : path_(std::move(path)), file_(file), note_file_(note) {}

    std::string path_;
    int file_;
    int note_file_;
    NoteText note_;
    std::uint64_t bytes_ = 0;
};

}  // namespace live::service::upload
