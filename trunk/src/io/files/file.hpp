// File: a regular file opened for reading below a folder that no path or link may escape. Opening and reading never block the
// loop: cached data is read directly, the rest in a worker thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"

namespace live::io {

class File {
public:
    struct Facts {
        bool is_folder = false;
        std::uint64_t size = 0;
        std::chrono::nanoseconds modified{};  // since 1970
        std::chrono::nanoseconds changed{};   // the inode, also by a chmod or an unlink; since 1970
        std::uint64_t device = 0;
        std::uint64_t inode = 0;

        bool operator==(const Facts&) const = default;
    };

    // `path` below `folder`; leading slashes are ignored, an empty path is the folder itself. Both may contain links as long as
    // the path ends up inside the folder. Errc::not_found; Errc::denied when it leads outside, is neither file nor folder or may
    // not be read; Errc::limit when the worker queue is full or no descriptor is left; Errc::timed_out, Errc::cancelled.
    static Result<File> open_below(std::string folder, std::string path, Deadline deadline);
    // The same without suspending, for a path that the kernel has cached: on a local file system, without links. Errc::need_more
    // for everything else, including missing paths, paths that lead outside, and any path before Linux 5.12.
    static Result<File> try_open_below(const std::string& folder, const std::string& path);

    const Facts& facts() const { return facts_; }
    // Whether the open file still has these facts: false once it has been written to, truncated, renamed or removed. Never
    // suspends; for files of try_open_below(), because others may be on a network.
    bool is_unchanged() const;
    int native_handle() const;
    // Whether the page cache has the first and the last of these bytes, at least one of which must exist: then it usually has all
    // of them. Never suspends.
    bool is_cached(std::uint64_t offset, std::size_t count) const;
    // Returns how many of these bytes can be read without waiting for the disk: all that exist, where the kernel counts them
    // (Linux 6.5) and has them; otherwise kWindowBytes at most, judged by is_cached(). Never suspends.
    static constexpr std::size_t kWindowBytes = 256U << 10;
    std::size_t cached_bytes(std::uint64_t offset, std::size_t count) const;
    // Never suspends. 0 at the end; Errc::need_more when it would have to wait for the disk.
    Result<std::size_t> try_read(std::uint64_t offset, MutBytes into) const;
    // Up to `count` bytes; fewer at the end of the file.
    Result<std::vector<std::uint8_t>> read(std::uint64_t offset, std::size_t count, Deadline deadline) const;

private:
    class Descriptor;

    explicit File(std::shared_ptr<const Descriptor> descriptor, const Facts& facts)
        : descriptor_(std::move(descriptor)), facts_(facts) {}
    static Result<File> open_blocking(const std::string& folder, const std::string& path);
    static Result<Facts> facts_of(const Descriptor& descriptor, const std::string& path);

    // The other owner is a worker that is still reading after the caller has stopped waiting.
    std::shared_ptr<const Descriptor> descriptor_;
    Facts facts_;
};

}  // namespace live::io
