#include "io/files/left_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/file_error.hpp"
#include "io/files/read_at.hpp"
#include "io/files/temporary_file.hpp"

namespace live::io {

namespace {

std::string with_time(const std::string& path, std::int64_t seconds) {
    const std::filesystem::path whole(path);
    return (whole.parent_path() / whole.stem()).string() + "." + std::to_string(seconds) + whole.extension().string();
}

}  // namespace

LeftFile::LeftFile(LeftFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), size_(other.size_), changed_(other.changed_) {}

LeftFile::~LeftFile() {
    if (file_ >= 0)
        ::close(file_);
}

Result<LeftFile> LeftFile::open(const std::string& path) {
    const std::string temporary = temporary_of(path);
    const int file = ::open(temporary.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        const int error = errno;
        std::error_code ignored;
        const std::filesystem::path folder = std::filesystem::path(path).parent_path();
        // Likely a disk that is not mounted yet.
        if (error == ENOENT && !folder.empty() && !std::filesystem::exists(folder, ignored))
            return Error(Errc::conflict, "the folder " + folder.string() + " is not there");
        if (error == ENOENT)
            return Error(Errc::not_found, temporary + " is not there");
        return file_error("opening " + temporary, error);
    }
    LeftFile left(path, file);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0)
        return Error(Errc::conflict, temporary + " is being written");
    struct stat about {};
    if (::fstat(file, &about) != 0)
        return system_error("looking at " + temporary, errno);
    if (!S_ISREG(about.st_mode))
        return Error(Errc::denied, temporary + " is no file");
    left.size_ = static_cast<std::uint64_t>(about.st_size);
    left.changed_ = about.st_mtime;
    return left;
}

Result<std::vector<std::uint8_t>> LeftFile::read(std::uint64_t offset, std::size_t count) const {
    return read_at(file_, temporary_of(path_), offset, count);
}

Result<std::string> LeftFile::commit(std::uint64_t bytes, const std::optional<FilePatch>& patch) {
    if (::ftruncate(file_, static_cast<off_t>(bytes)) != 0)
        return system_error("shortening " + temporary_of(path_), errno);
    if (patch) {
        for (std::size_t done = 0; done < patch->bytes.size();) {
            const ssize_t count =
                ::pwrite(file_, patch->bytes.data() + done, patch->bytes.size() - done, static_cast<off_t>(patch->offset + done));
            if (count < 0 && errno == EINTR)
                continue;
            if (count <= 0)
                return system_error("writing " + temporary_of(path_), count < 0 ? errno : ENOSPC);
            done += static_cast<std::size_t>(count);
        }
    }
    for (const std::string& name : {path_, with_time(path_, changed_)}) {
        const auto renamed = rename_new(temporary_of(path_), name);
        if (renamed.ok())
            return name;
        if (renamed.code() != Errc::conflict)
            return Error(renamed.error());
    }
    return Error(Errc::conflict, path_ + " and " + with_time(path_, changed_) + " exist already");
}

Result<void> LeftFile::remove() {
    const std::string temporary = temporary_of(path_);
    if (::unlink(temporary.c_str()) != 0)
        return file_error("removing " + temporary, errno);
    return {};
}

}  // namespace live::io
