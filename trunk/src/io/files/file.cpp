#include "io/files/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#if __has_include(<linux/openat2.h>)
#include <linux/magic.h>
#include <linux/openat2.h>
#endif

#include "io/fibers/off_loop.hpp"
#include "io/files/read_at.hpp"

namespace live::io {

class File::Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0)
            ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int fd() const { return fd_; }
    // The real path, with links resolved. In its own stack frame: a path takes half of what a function may have on its stack.
    [[gnu::noinline]] std::optional<std::string> path() const {
        std::array<char, PATH_MAX> path{};
        const std::string self = "/proc/self/fd/" + std::to_string(fd_);
        const ssize_t size = ::readlink(self.c_str(), path.data(), path.size());
        return size > 0 && path[0] == '/' ? std::optional(std::string(path.data(), static_cast<std::size_t>(size)))
                                          : std::nullopt;
    }

private:
    int fd_;
};

namespace {

Error error_of(int error, const std::string& path) {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
        case ENAMETOOLONG: return {Errc::not_found, "there is no file " + path};
        case EACCES:
        case EPERM:
        case ELOOP:
        case ENXIO: return {Errc::denied, "the file " + path + " cannot be read"};
        case EMFILE:
        case ENFILE: return {Errc::limit, "no descriptor is left for " + path};
        default: return system_error("opening " + path, error);
    }
}

constexpr int kFileFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

std::string relative(const std::string& path) {
    const std::size_t begin = std::min(path.find_first_not_of('/'), path.size());
    return begin == path.size() ? "." : path.substr(begin);
}

#ifdef RESOLVE_CACHED
// Fails where the name look-up would have to go to disk.
int open_at_hand(int folder, const std::string& path, int flags, std::uint64_t resolve) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags);
    how.resolve = resolve | RESOLVE_CACHED;
    return static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
}

// On network and process file systems even opening a known name may take long.
bool is_local(int folder) {
    struct statfs status {};
    if (::fstatfs(folder, &status) != 0)
        return false;
    static constexpr std::array<long, 5> kLocal = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                                   OVERLAYFS_SUPER_MAGIC};
    return std::ranges::find(kLocal, static_cast<long>(status.f_type)) != kLocal.end();
}
#endif

// Whether the page cache has all of these bytes; false also where the kernel does not say: before Linux 6.5, in sandboxes, and
// for files of others.
bool has_all_pages(int fd, std::uint64_t offset, std::size_t count) {
    // As the kernel defines them; the headers of C libraries are older.
    struct Range {
        std::uint64_t offset;
        std::uint64_t bytes;
    };
    struct Counts {
        std::uint64_t cached = 0;
        std::uint64_t dirty = 0;
        std::uint64_t in_writeback = 0;
        std::uint64_t evicted = 0;
        std::uint64_t recently_evicted = 0;
    };
    constexpr long kCachestat = 451;
    const Range range{offset, count};
    Counts counts;
    if (::syscall(kCachestat, fd, &range, &counts, 0) != 0)
        return false;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    return counts.cached >= (offset + count - 1) / page - offset / page + 1;
}

std::chrono::nanoseconds since_1970(const timespec& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool is_below(std::string_view path, std::string_view folder) {
    if (folder == "/")
        return true;
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

// Opened first and checked afterwards: in between a link could change.
Result<File> File::open_blocking(const std::string& folder, const std::string& path) {
    const Descriptor root(::open(folder.c_str(), kFolderFlags));
    if (root.fd() < 0)
        return error_of(errno, folder);
    auto file = std::make_shared<const Descriptor>(::openat(root.fd(), relative(path).c_str(), kFileFlags));
    if (file->fd() < 0)
        return error_of(errno, path);
    const auto real_root = root.path();
    const auto real_path = file->path();
    if (!real_root || !real_path || !is_below(*real_path, *real_root))
        return Error(Errc::denied, "the file " + path + " is outside of " + folder);
    const Facts facts = TRY(facts_of(*file, path));
    return File(std::move(file), facts);
}

Result<File::Facts> File::facts_of(const Descriptor& descriptor, const std::string& path) {
    struct stat status {};
    if (::fstat(descriptor.fd(), &status) != 0)
        return system_error("fstat", errno);
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return Error(Errc::denied, path + " is neither a file nor a folder");
    Facts facts;
    facts.is_folder = S_ISDIR(status.st_mode);
    facts.size = facts.is_folder ? 0 : static_cast<std::uint64_t>(status.st_size);
    facts.modified = since_1970(status.st_mtim);
    facts.changed = since_1970(status.st_ctim);
    facts.device = status.st_dev;
    facts.inode = status.st_ino;
    return facts;
}

bool File::is_unchanged() const {
    const auto now = facts_of(*descriptor_, "");
    return now.ok() && *now == facts_;
}

int File::native_handle() const { return descriptor_->fd(); }

bool File::is_cached(std::uint64_t offset, std::size_t count) const {
    std::uint8_t byte = 0;
    const auto has = [&](std::uint64_t at) {
        const auto got = try_read(at, {&byte, 1});
        return got.ok() && *got == 1;
    };
    return count > 0 && has(offset) && (count == 1 || has(offset + count - 1));
}

std::size_t File::cached_bytes(std::uint64_t offset, std::size_t count) const {
    const std::size_t window = std::min(count, kWindowBytes);
    if (window < count && has_all_pages(descriptor_->fd(), offset, count))
        return count;
    return is_cached(offset, window) ? window : 0;
}

Result<File> File::try_open_below(const std::string& folder, const std::string& path) {
#ifdef RESOLVE_CACHED
    const Descriptor root(open_at_hand(AT_FDCWD, folder, kFolderFlags, 0));
    if (root.fd() >= 0 && is_local(root.fd())) {
        constexpr std::uint64_t kInside = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV;
        auto file = std::make_shared<const Descriptor>(open_at_hand(root.fd(), relative(path), kFileFlags, kInside));
        if (file->fd() >= 0) {
            const Facts facts = TRY(facts_of(*file, path));
            return File(std::move(file), facts);
        }
    }
#endif
    return Error(Errc::need_more, folder + " " + path + " is not at hand");
}

// Going through a worker costs more than the open itself.
Result<File> File::open_below(std::string folder, std::string path, Deadline deadline) {
    if (auto file = try_open_below(folder, path); file.ok() || file.code() != Errc::need_more)
        return file;
    return off_loop([folder = std::move(folder), path = std::move(path)] { return open_blocking(folder, path); }, deadline);
}

Result<std::size_t> File::try_read(std::uint64_t offset, MutBytes into) const {
    const ::iovec part{into.data(), into.size()};
    const ssize_t count = ::preadv2(descriptor_->fd(), &part, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (count >= 0)
        return static_cast<std::size_t>(count);
    // Some file systems cannot report what is cached.
    if (errno == EAGAIN || errno == EOPNOTSUPP || errno == EINTR || errno == ENOSYS)
        return Error(Errc::need_more, "not in memory");
    return system_error("preadv2", errno);
}

Result<std::vector<std::uint8_t>> File::read(std::uint64_t offset, std::size_t count, Deadline deadline) const {
    return off_loop([descriptor = descriptor_, offset, count] { return read_at(descriptor->fd(), "a file", offset, count); },
                    deadline);
}

}  // namespace live::io
