// LineWriter: a log that never holds the loop. Lines wait in memory, within a bound, and one thread appends them in batches to a
// file that it rotates by size, or to a descriptor such as the console. A full disk, a stuck one, or a pipe that nobody reads
// costs lines, which are counted and said; nobody waits for it. A file that somebody has moved away is opened anew by reopen().
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

namespace live::io {

class LineWriter {
    struct Private {};
    class Thread;

public:
    // What may wait in memory, with what is being written; further lines are lost until the thread has taken what waits.
    static constexpr std::size_t kWaitingBytesMax = 1 << 20;
    // After a batch the thread lets lines gather for so long, so that many lines cost few wake-ups.
    static constexpr std::chrono::milliseconds kGather{5};
    // Until a write that has failed is tried again.
    static constexpr std::chrono::milliseconds kRetry{1000};
    // How long the destructor waits for the rest to be written.
    static constexpr std::chrono::milliseconds kEndLimit{1000};
    // The same for a crash.
    static constexpr std::chrono::milliseconds kCrashLimit{200};

    // When PATH would be longer than this many bytes, it becomes PATH.1, PATH.1 becomes PATH.2, and so on up to PATH.`backups`,
    // which goes. 0: never.
    struct Rotation {
        std::uint64_t file_bytes_max = 0;
        std::uint32_t backups = 0;
    };
    struct Options {
        std::string thread_name;  // 15 letters at most
        std::string path;         // empty: `standing`, which stays open
        int standing = -1;
        Rotation rotation{};
        // Makes a line, with its newline, of a sentence about the log itself, such as how many lines were lost. Without it such
        // sentences are there for take_remarks(). Called in the writer's thread.
        std::function<std::string(std::string_view sentence)> remark_line{};
        // Told of each file that was opened. Called in the writer's thread, and for the first file in the one of create().
        std::function<void(int descriptor)> opened{};
        std::size_t waiting_bytes_max = kWaitingBytesMax;
    };
    struct Counters {
        std::uint64_t lost = 0;        // lines that were not written and never will be
        std::size_t memory_bytes = 0;  // held for lines
    };

    // Opens the file and starts the thread: not to be followed by a fork. Errc::system.
    static Result<std::unique_ptr<LineWriter>> create(Options options);
    LineWriter(Private, std::shared_ptr<Thread> thread) : thread_(std::move(thread)) {}
    // Waits for the rest to be written, for kEndLimit at most.
    ~LineWriter();
    LineWriter(const LineWriter&) = delete;
    LineWriter& operator=(const LineWriter&) = delete;

    // `line` ends with its newline. Never waits for the file.
    void add(std::string_view line);
    // Lines that are added from now on go into a file that has the path anew. A failure is a remark, and the old file goes on.
    void reopen();
    Counters counters() const;
    // What the thread had to say since the last call, for an owner without `remark_line`; the oldest of it, if it is very much.
    std::vector<std::string> take_remarks();
    // Whether all that was added has been written, which is waited for: for tests, and where the loop has ended.
    bool wait_written(std::chrono::milliseconds limit);
    // From now on a crash of the process (SIGSEGV and its like, an abort, and so a CHECK) first waits for the lines that were
    // written before it, for kCrashLimit at most. One writer of a process may ask for that. A signal that somebody else takes,
    // as sanitizers do, is left to them.
    void hold_crashes();

private:
    // The other owner is the thread itself, which may be stuck in a write when nobody waits for it any more.
    std::shared_ptr<Thread> thread_;
};

}  // namespace live::io
