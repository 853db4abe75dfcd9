// OutputFile: a file that grows for a long time and gets its name when it is complete: a recording. All disk access happens in a
// worker thread, one operation after the other, so a slow disk delays only its own user. One user at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file_patch.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"

namespace live::io {

class OutputFile {
    class Descriptor;
    struct Private {};  // only create() can make one

public:
    // The end of a file, and what overwrites its beginning.
    struct Ending {
        std::vector<std::uint8_t> tail;
        std::optional<FilePatch> patch;
    };

    // Makes the folders and creates `path`.tmp. Errc::conflict when `path` exists or is being written; Errc::denied,
    // Errc::system, Errc::limit when the worker queue is full. A leftover of a killed process under that name is kept: its time
    // of change, in seconds since 1970, is added to its name.
    static Result<std::unique_ptr<OutputFile>> create(std::string path, Deadline deadline);
    OutputFile(Private, std::string path, std::shared_ptr<Descriptor> descriptor);
    // An uncommitted file stays under its temporary name.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    const std::string& path() const { return path_; }
    std::string temporary_path() const;
    // Bytes in the file.
    std::uint64_t bytes() const { return bytes_; }

    // Errc::system, as on a full disk: nothing of `bytes` is in the file and nothing more can be appended, but the file can be
    // committed. After any other error it cannot: a worker may still be writing.
    Result<void> append(std::vector<std::uint8_t> bytes, Deadline deadline);
    // `ending` runs in the worker and must own what it touches. Afterwards the file has its name. Errc::conflict when that name
    // was taken meanwhile.
    Result<void> commit(std::function<Ending()> ending, Deadline deadline);
    Result<void> discard(Deadline deadline);

private:
    // Full: the disk takes no more, but the file is intact. Lost: a worker may still be writing, or the file is finished.
    enum class State : std::uint8_t { open, full, lost };

    std::string path_;
    // The other owner is a worker that is still writing after the caller has stopped waiting.
    std::shared_ptr<Descriptor> descriptor_;
    std::uint64_t bytes_ = 0;
    State state_ = State::open;
};

}  // namespace live::io
