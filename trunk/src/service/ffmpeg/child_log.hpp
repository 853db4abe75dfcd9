// ChildLog: the lines of one run of a child in a file of its own, which the next run overwrites. Worker threads write it, so that
// a slow disk delays nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"

namespace live::service::ffmpeg {

class ChildLog {
public:
    // Bytes of a file; later lines are left out.
    static constexpr std::size_t kBytesMax = 1U << 20;
    // Bytes of lines between two calls of flush(); more are left out.
    static constexpr std::size_t kWaitingMax = 64U << 10;

    // An empty path: there is no file.
    explicit ChildLog(std::string path) : path_(std::move(path)), is_open_(!path_.empty()) {}

    void add(std::string_view line);
    // Writes the added lines. After an error the rest of the log is left out.
    Result<void> flush(io::Deadline deadline);

private:
    const std::string path_;
    std::string waiting_;
    std::size_t bytes_ = 0;  // of the file, with those that wait
    bool is_open_;
    bool has_begun_ = false;
};

}  // namespace live::service::ffmpeg
