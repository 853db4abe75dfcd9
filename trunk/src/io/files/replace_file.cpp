#include "io/files/replace_file.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/fibers/off_loop.hpp"
#include "io/files/file_error.hpp"

namespace live::io {

namespace {

// 0, or errno.
int write_whole(int file, const std::vector<std::uint8_t>& bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno != EINTR)
            return errno;
        done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    return 0;
}

Result<void> write_blocking(const std::string& path, const std::vector<Block>& blocks) {
    namespace fs = std::filesystem;
    std::error_code failed;
    const fs::path folder = fs::path(path).parent_path();
    if (!folder.empty())
        fs::create_directories(folder, failed);
    const std::string temporary = path + kTemporarySuffix;
    constexpr int kMode = 0644;
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    if (file < 0)
        return file_error("opening " + temporary, errno);
    int error = 0;
    for (const Block& block : blocks)
        if (error == 0)
            error = write_whole(file, *block);
    if (::close(file) != 0 && error == 0)
        error = errno;
    if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0)
        error = errno;
    if (error == 0)
        return {};
    ::unlink(temporary.c_str());
    return file_error("writing " + path, error);
}

Result<void> remove_blocking(const std::vector<std::string>& paths) {
    Result<void> removed;
    for (const std::string& path : paths)
        if (::unlink(path.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR && removed.ok())
            removed = file_error("removing " + path, errno);
    return removed;
}

}  // namespace

Result<void> replace_file(std::string path, std::vector<Block> blocks, Deadline deadline) {
    return off_loop([path = std::move(path), blocks = std::move(blocks)] { return write_blocking(path, blocks); }, deadline);
}

Result<void> remove_files(std::vector<std::string> paths, Deadline deadline) {
    return off_loop([paths = std::move(paths)] { return remove_blocking(paths); }, deadline);
}

Result<std::vector<std::optional<std::uint64_t>>> file_sizes(std::vector<std::string> paths, Deadline deadline) {
    return off_loop(
        [paths = std::move(paths)] {
            std::vector<std::optional<std::uint64_t>> sizes;
            for (const std::string& path : paths) {
                struct stat facts {};
                const bool is_file = ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
                sizes.push_back(is_file ? std::optional(static_cast<std::uint64_t>(facts.st_size)) : std::nullopt);
            }
            return sizes;
        },
        deadline);
}

}  // namespace live::io
