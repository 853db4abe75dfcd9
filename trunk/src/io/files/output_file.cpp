#include "io/files/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/fibers/off_loop.hpp"
#include "io/files/file_error.hpp"
#include "io/files/temporary_file.hpp"

namespace live::io {

namespace {

constexpr mode_t kFileMode = 0664;

bool exists(const std::string& path) {
    struct stat about {};
    return ::lstat(path.c_str(), &about) == 0;
}

Error exists_error(const std::string& path) { return {Errc::conflict, path + " exists already"}; }

}  // namespace

// Used by one worker at a time. Owned by the file and, while it works, the worker.
class OutputFile::Descriptor {
public:
    explicit Descriptor(int file) : file_(file) {}
    ~Descriptor() { static_cast<void>(close()); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    Result<void> append(const std::vector<std::uint8_t>& bytes) {
        TRY(write_at(size_, bytes));
        size_ += bytes.size();
        return {};
    }
    Result<void> write_at(std::uint64_t offset, const std::vector<std::uint8_t>& bytes) const {
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t count = ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
            if (count < 0 && errno == EINTR)
                continue;
            if (count <= 0) {
                const int error = count < 0 ? errno : ENOSPC;
                // A partial write would be taken for media.
                if (::ftruncate(file_, static_cast<off_t>(size_)) != 0)
                    return system_error("shortening", errno);
                return system_error("writing", error);
            }
            done += static_cast<std::size_t>(count);
        }
        return {};
    }
    Result<void> close() {
        const int file = std::exchange(file_, -1);
        if (file >= 0 && ::close(file) != 0)
            return system_error("closing", errno);
        return {};
    }

private:
    int file_;
    std::uint64_t size_ = 0;
};

namespace {

// The leftover of a killed process is kept under another name.
Result<void> keep_leftover(int file, const std::string& path) {
    struct stat about {};
    if (::fstat(file, &about) != 0 || about.st_size == 0)
        return {};
    const std::string kept = path + "." + std::to_string(about.st_mtime) + ".tmp";
    if (exists(kept))
        return exists_error(kept);
    if (::rename(temporary_of(path).c_str(), kept.c_str()) != 0)
        return file_error("renaming " + temporary_of(path), errno);
    return {};
}

// A descriptor that holds the file's lock, which marks a live writer.
Result<int> open_locked(const std::string& path) {
    const std::string temporary = temporary_of(path);
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode);
    if (file < 0)
        return file_error("opening " + temporary, errno);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        ::close(file);
        return Error(Errc::conflict, temporary + " is being written already");
    }
    return file;
}

Result<int> create_blocking(const std::string& path) {
    std::error_code failed;
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty())
        std::filesystem::create_directories(folder, failed);
    if (exists(path))
        return exists_error(path);
    const int file = TRY(open_locked(path));
    auto kept = keep_leftover(file, path);
    struct stat about {};
    const bool was_left = ::fstat(file, &about) == 0 && about.st_size > 0;
    if (!kept.ok()) {
        ::close(file);
        return std::move(kept).error();
    }
    if (!was_left)
        return file;
    ::close(file);
    return open_locked(path);
}

}  // namespace

// The other owner of the descriptor is the worker that is using it.
OutputFile::OutputFile(Private, std::string path, std::shared_ptr<Descriptor> descriptor)
    : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

OutputFile::~OutputFile() = default;

std::string OutputFile::temporary_path() const { return temporary_of(path_); }

Result<std::unique_ptr<OutputFile>> OutputFile::create(std::string path, Deadline deadline) {
    auto descriptor = TRY(off_loop(
        [path]() -> Result<std::shared_ptr<Descriptor>> { return std::make_shared<Descriptor>(TRY(create_blocking(path))); },
        deadline));
    return std::make_unique<OutputFile>(Private(), std::move(path), std::move(descriptor));
}

Result<void> OutputFile::append(std::vector<std::uint8_t> bytes, Deadline deadline) {
    if (state_ != State::open)
        return Error(Errc::closed, "an earlier write to " + path_ + " failed");
    const std::size_t count = bytes.size();
    auto written = off_loop([file = descriptor_, bytes = std::move(bytes)] { return file->append(bytes); }, deadline);
    if (!written.ok()) {
        state_ = written.code() == Errc::system ? State::full : State::lost;
        return std::move(written).error().during(path_);
    }
    bytes_ += count;
    return {};
}

Result<void> OutputFile::commit(std::function<Ending()> ending, Deadline deadline) {
    if (state_ == State::lost)
        return Error(Errc::closed, "a write to " + path_ + " may still be going on");
    state_ = State::lost;
    auto committed = off_loop(
        [file = descriptor_, path = path_, ending = std::move(ending)]() -> Result<void> {
            const Ending end = ending();
            TRY(file->append(end.tail));
            if (end.patch)
                TRY(file->write_at(end.patch->offset, end.patch->bytes));
            TRY(rename_new(temporary_of(path), path));
            return file->close();
        },
        deadline);
    if (!committed.ok())
        return std::move(committed).error().during(path_);
    return {};
}

Result<void> OutputFile::discard(Deadline deadline) {
    state_ = State::lost;
    return off_loop(
        [file = descriptor_, temporary = temporary_path()]() -> Result<void> {
            if (::unlink(temporary.c_str()) != 0 && errno != ENOENT)
                return file_error("removing " + temporary, errno);
            return file->close();
        },
        deadline);
}

}  // namespace live::io
