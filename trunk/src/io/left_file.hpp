// LeftFile: what a process that was killed has left of an OutputFile: path.tmp. Everything here blocks: it is for a worker thread
// (io::off_loop).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file_patch.hpp"
#include "base/result.hpp"

namespace live::io {

class LeftFile {
public:
    // Errc::not_found when there is none, Errc::conflict while somebody writes it or its folder is not there, Errc::denied,
    // Errc::system.
    static Result<LeftFile> open(const std::string& path);
    LeftFile(LeftFile&& other) noexcept;
    LeftFile& operator=(LeftFile&&) = delete;
    ~LeftFile();

    std::uint64_t size() const { return size_; }
    // Fewer at the end.
    Result<std::vector<std::uint8_t>> read(std::uint64_t offset, std::size_t count) const;
    // Cuts it to `bytes`, writes over the rest what is to be, and gives it its name: `path`, or when that is taken, the same with
    // the time of its last change, in seconds since 1970, in front of its ending. Returns the name.
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
