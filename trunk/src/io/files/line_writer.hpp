// LineWriter: a log that never blocks the loop. Lines wait in a bounded queue in memory, and one thread appends them in batches
// to a file that it rotates by size, or to a descriptor such as the console. A full disk, a hung disk or a pipe without a reader
// costs lines, which are counted and reported; the loop never waits. reopen() reopens a file that has been moved away.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "io/files/rotated_file.hpp"

namespace live::io {

class LineWriter {
    struct Private {};
    class Thread;

public:
    // Limit of queued bytes, including those being written; further lines are lost until the thread takes the queue.
    static constexpr std::size_t kWaitingBytesMax = 1 << 20;
    // After a batch the thread lets lines accumulate for this long, so that many lines cost few wake-ups.
    static constexpr std::chrono::milliseconds kGather{5};
    // Delay before a failed write is retried.
    static constexpr std::chrono::milliseconds kRetry{1000};
    // How long the destructor waits for the remaining lines to be written.
    static constexpr std::chrono::milliseconds kEndLimit{1000};
    // The same for a crash.
    static constexpr std::chrono::milliseconds kCrashLimit{200};

    using Rotation = RotatedFile::Rotation;
    struct Options {
        std::string thread_name;  // at most 15 characters
        std::string path;         // empty: `standing`, which is never closed
        int standing = -1;
        Rotation rotation{};
        // Turns a sentence about the log itself, such as the number of lost lines, into a line with its newline. Without it such
        // sentences are kept for take_remarks(). Called in the writer's thread.
        std::function<std::string(std::string_view sentence)> remark_line{};
        // Receives each file that was opened. Called in the writer's thread, and for the first file in the thread of create().
        std::function<void(int descriptor)> opened{};
        std::size_t waiting_bytes_max = kWaitingBytesMax;
    };
    struct Counters {
        std::uint64_t lost = 0;        // lines that were not written and never will be
        std::size_t memory_bytes = 0;  // held for queued lines
    };

    // Opens the file and starts the thread; no fork may follow. Errc::system.
    static Result<std::unique_ptr<LineWriter>> create(Options options);
    LineWriter(Private, std::shared_ptr<Thread> thread) : thread_(std::move(thread)) {}
    // Waits up to kEndLimit for the remaining lines to be written.
    ~LineWriter();
    LineWriter(const LineWriter&) = delete;
    LineWriter& operator=(const LineWriter&) = delete;

    // `line` ends with its newline. Never waits for the file.
    void add(std::string_view line);
    // Lines added from now on go into a newly opened file at the same path. A failure is logged; the previous file stays in use.
    void reopen();
    Counters counters() const;
    // Remarks of the thread since the last call, for an owner without `remark_line`; only the oldest if there are very many.
    std::vector<std::string> take_remarks();
    // Waits until everything added has been written; returns whether it has. For tests, and for when the loop has ended.
    bool wait_written(std::chrono::milliseconds limit);
    // From now on a crash of the process (SIGSEGV and the like, an abort, and so a CHECK) first waits up to kCrashLimit for the
    // lines added before it. One writer per process. A signal that already has a handler, as with sanitizers, is left alone.
    void hold_crashes();

private:
    // The other owner is the thread itself, which may hang in a write after the owner has stopped waiting for it.
    std::shared_ptr<Thread> thread_;
};

}  // namespace live::io
