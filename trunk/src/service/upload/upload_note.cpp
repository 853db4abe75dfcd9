#include "service/upload/upload_note.hpp"

#include <cerrno>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/read_at.hpp"

namespace live::service::upload {

namespace {

constexpr std::string_view kFirstLine = "millrace upload 1\n";

std::string read_all(int file) {
    std::string text(kNoteBytesMax, '\0');
    const ssize_t count = ::pread(file, text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
}

}  // namespace

std::string text_of(const NoteText& note) {
    std::string text(kFirstLine);
    const auto line = [&text](std::string_view name, const std::string& value) {
        if (!value.empty())
            text.append(name).append(" ").append(value).append("\n");
    };
    line("key", note.key);
    line("upload", note.upload_id);
    line("part", note.part_bytes > 0 ? std::to_string(note.part_bytes) : "");
    line("done", note.done_etag);
    return text + "end\n";
}

// Without its last line a note was not written to the end.
Result<NoteText> parse_note(std::string_view text) {
    const Error broken(Errc::malformed, "the note is no note of an upload");
    if (!text.starts_with(kFirstLine) || !text.ends_with("\nend\n"))
        return broken;
    text.remove_prefix(kFirstLine.size());
    NoteText note;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const std::size_t space = std::min(line.find(' '), line.size());
        const std::string_view name = line.substr(0, space), value = line.substr(std::min(space + 1, line.size()));
        if (name == "key")
            note.key = value;
        else if (name == "upload")
            note.upload_id = value;
        else if (name == "done")
            note.done_etag = value;
        else if (name == "part" &&
                 (std::from_chars(value.data(), value.data() + value.size(), note.part_bytes).ptr != value.data() + value.size()))
            return broken;
    }
    return note;
}

std::string note_path(const std::string& path) { return path + ".upload"; }

std::set<std::string> with_done(const std::vector<std::string>& paths) {
    std::set<std::string> done;
    for (const std::string& path : paths) {
        const int file = ::open(note_path(path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (file < 0)
            continue;
        const auto note = parse_note(read_all(file));
        ::close(file);
        if (note.ok() && note->is_done())
            done.insert(path);
    }
    return done;
}

Result<NotedFile> NotedFile::open(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? Error(Errc::not_found, "the file is gone") : system_error("opening " + path, errno);
    NotedFile noted(path, file, ::open(note_path(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (noted.note_file_ < 0)
        return system_error("opening " + note_path(path), errno);
    if (::flock(noted.note_file_, LOCK_EX | LOCK_NB) != 0)
        return Error(Errc::conflict, "another process uploads " + path);
    struct stat facts {};
    if (::fstat(file, &facts) != 0)
        return system_error("reading " + path, errno);
    noted.bytes_ = static_cast<std::uint64_t>(facts.st_size);
    if (auto note = parse_note(read_all(noted.note_file_)); note.ok())
        noted.note_ = *std::move(note);
    return noted;
}

NotedFile::NotedFile(NotedFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      note_file_(std::exchange(other.note_file_, -1)),
      note_(std::move(other.note_)),
      bytes_(other.bytes_) {}

NotedFile::~NotedFile() {
    for (const int file : {file_, note_file_})
        if (file >= 0)
            ::close(file);
}

Result<void> NotedFile::write(const NoteText& note) const {
    const std::string text = text_of(note);
    if (::ftruncate(note_file_, 0) != 0 || ::pwrite(note_file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
        return system_error("writing " + note_path(path_), errno);
    return {};
}

void NotedFile::remove_note() const { ::unlink(note_path(path_).c_str()); }

Result<std::vector<std::uint8_t>> NotedFile::read(std::uint64_t offset, std::size_t count) const {
    struct stat facts {};
    if (::fstat(file_, &facts) == 0 && facts.st_nlink == 0)
        return Error(Errc::not_found, "the file was removed");
    return io::read_at(file_, path_, offset, count);
}

}  // namespace live::service::upload
