// LeftFile: the unfinished OutputFile of a killed process: path.tmp. Everything here blocks, so it belongs in a worker thread
// (io::off_loop).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file_patch.hpp"
#include "base/result.hpp"

namespace live::io {

class LeftFile {
public:
    // Errc::not_found when there is none, Errc::conflict while it is being written or its folder does not exist, Errc::denied,
    // Errc::system.
    static Result<LeftFile> open(const std::string& path);
    LeftFile(LeftFile&& other) noexcept;
    LeftFile& operator=(LeftFile&&) = delete;
    ~LeftFile();

    std::uint64_t size() const { return size_; }
    // Fewer at the end of the file.
    Result<std::vector<std::uint8_t>> read(std::uint64_t offset, std::size_t count) const;
    // Truncates it to `bytes`, applies `patch`, and renames it to `path`, or when that is taken, to the same name with the time
    // of its last change, in seconds since 1970, before the extension. Returns the name.
    Result<std::string> commit(std::uint64_t bytes, const std::optional<FilePatch>& patch);
    Result<void> remove();

private:
    LeftFile(std::string path, int file) : path_(std::move(path)), file_(file) {}

    std::string path_;
    int file_;
    std::uint64_t size_ = 0;
    std::int64_t changed_ = 0;
};

}  // namespace live::io
