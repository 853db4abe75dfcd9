// FileReader: reads pieces of recordings, and keeps the last files open. Blocks: call it in a worker. A recording in progress is
// at path.tmp; when it is complete it has its name, and what is open stays readable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace live::service::recordings {

class FileReader {
public:
    static constexpr std::size_t kOpenMax = 4;

    explicit FileReader(std::vector<std::string> paths) : paths_(std::move(paths)) {}
    ~FileReader();
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    // Fewer at the end of the file. Errc::not_found, Errc::denied, Errc::system.
    Result<std::vector<std::uint8_t>> read(std::size_t file, std::uint64_t offset, std::size_t count);

private:
    struct Open {
        std::size_t file;
        int descriptor;
    };
    Result<int> descriptor_of(std::size_t file);

    std::vector<std::string> paths_;
    std::vector<Open> open_;  // the newest last
};

}  // namespace live::service::recordings
