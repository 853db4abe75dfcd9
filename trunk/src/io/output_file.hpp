// OutputFile: a file that grows for long and gets its name when it is whole: a recording. Everything that touches the disk
// happens in a worker thread, one thing after the other, so that a slow disk stops nobody but who waits for it. One user at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_patch.hpp"
#include "base/result.hpp"
#include "io/deadline.hpp"

namespace live::io {

class OutputFile {
    class Descriptor;
    struct Private {};  // only create() makes one

public:
    // What a file ends with, and what is written over its beginning.
    struct Ending {
        std::vector<std::uint8_t> tail;
        std::optional<FilePatch> patch;
    };

    // Makes the folders and begins `path`.tmp. Errc::conflict when `path` exists or somebody writes it; Errc::denied,
    // Errc::system, Errc::limit when too much waits for the workers. What a process that was killed left under that name is kept:
    // it gets its time of change, in seconds since 1970, into its name.
    static Result<std::unique_ptr<OutputFile>> create(std::string path, Deadline deadline);
    OutputFile(Private, std::string path, std::shared_ptr<Descriptor> descriptor);
    // What was not committed stays under its temporary name.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    const std::string& path() const { return path_; }
    std::string temporary_path() const;
    // That are in the file.
    std::uint64_t bytes() const { return bytes_; }

    // Errc::system, as on a full disk: nothing of it is in the file, nothing more can be appended, but what is there can be
    // committed. After any other error it cannot: a worker may still be writing.
    Result<void> append(std::vector<std::uint8_t> bytes, Deadline deadline);
    // `ending` is made in the worker and must own what it touches. Then the file has its name. Errc::conflict when somebody else
    // took it meanwhile.
    Result<void> commit(std::function<Ending()> ending, Deadline deadline);
    Result<void> discard(Deadline deadline);

private:
    // Full: the disk takes no more, but the file is whole. Lost: a worker may still be writing, or all is done.
    enum class State : std::uint8_t { open, full, lost };

    std::string path_;
    // The other owner is a worker that still writes when nobody waits any more.
    std::shared_ptr<Descriptor> descriptor_;
    std::uint64_t bytes_ = 0;
    State state_ = State::open;
};

}  // namespace live::io
