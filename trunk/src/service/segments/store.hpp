// Store: the files of one output's streams in memory, by path: headers, segments and parts. Files may be complete, in progress,
// or only promised; their readers wait for more.
#pragma once

#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/time.hpp"
#include "service/files/sent_copy.hpp"
#include "service/files/waiters.hpp"

namespace live::service::segments {

// The stream that a file belongs to.
struct StreamOfFiles {
    std::string vhost;
    std::string app;
    std::string stream;
    Duration idle_limit{};     // of a player: it is considered gone after this long without a request
    Duration wait_limit{};     // upper limit for a request that waits for a promised file
    TimePoint requested_at{};  // last request for any file
    std::string url{};         // of the source
    bool is_partial = false;   // see Output::lacks_segments()
    bool has_sessions = true;  // its players have sessions
};
// Its owners are the stream's output and its files.
using StreamOfFilesRef = std::shared_ptr<StreamOfFiles>;

class File;
// Its owners are the output that makes it, the store, its parts, and requests, which may last longer than the file is kept.
using FileRef = std::shared_ptr<File>;

class File {
public:
    // A kernel memory file with the same bytes from `offset` on (SentCopy); nullptr: none.
    struct Copy {
        io::MemoryFileRef file;
        std::uint64_t offset = 0;
    };

    // A complete file smaller than this is sent from memory: the kernel copies it just as fast.
    static constexpr std::size_t kCopyMin = 4 << 10;

    File(StreamOfFilesRef stream, const files::SentCopy::BudgetRef& copies) : stream_(std::move(stream)), copy_(copies) {}
    // A part of `segment`, sent from the segment's copy. Blocks are added to both, to the part first.
    File(FileRef segment, const files::SentCopy::BudgetRef& copies)
        : stream_(segment->stream()), segment_(std::move(segment)), copy_(copies) {}

    const StreamOfFilesRef& stream() const { return stream_; }
    void add(const Block& block) { append({&block, 1}, Ends::no); }
    // Adds the last blocks. A file without blocks has been abandoned.
    void end(std::span<const Block> blocks = {}) { append(blocks, Ends::yes); }
    bool is_whole() const { return is_whole_; }
    const std::vector<Block>& blocks() const { return blocks_; }
    // Removes the blocks from memory; for complete files.
    std::vector<Block> release();
    // Size of the available blocks.
    std::size_t bytes() const {
        return std::accumulate(blocks_.begin(), blocks_.end(), std::size_t{0},
                               [](std::size_t sum, const Block& block) { return sum + block->size(); });
    }

    // Returns a copy of the file in a memory file if there are many requests; otherwise an empty Copy.
    Copy copy_for_request();

    files::Waiters& waiters() { return waiters_; }

private:
    enum class Ends : bool { no, yes };
    void append(std::span<const Block> blocks, Ends ends);

    StreamOfFilesRef stream_;
    FileRef segment_;  // for a part: its segment
    std::uint64_t offset_ = 0;
    std::vector<Block> blocks_;
    files::SentCopy copy_;
    files::Waiters waiters_;
    bool is_whole_ = false;
};

class Store {
public:
    // Adds a file under a normalized path (normal_path). Replaces an earlier file of that path.
    FileRef add(const std::string& path, const StreamOfFilesRef& stream) {
        added_.raise();
        return files_[path] = std::make_shared<File>(stream, copies_);
    }
    FileRef add_part(const std::string& path, const FileRef& segment) {
        return files_[path] = std::make_shared<File>(segment, copies_);
    }
    // A file that cannot be found until it is put into the store.
    FileRef make(const StreamOfFilesRef& stream) const { return std::make_shared<File>(stream, copies_); }
    void put(const std::string& path, const FileRef& file) { files_[path] = file; }
    // Adds a complete file.
    FileRef add(const std::string& path, const StreamOfFilesRef& stream, const std::vector<Block>& blocks);
    void remove(const std::string& path, const FileRef& file) {
        if (const auto found = files_.find(path); found != files_.end() && found->second == file)
            files_.erase(found);
    }
    FileRef find(const std::string& path) const {
        const auto found = files_.find(path);
        return found == files_.end() ? nullptr : found->second;
    }
    std::size_t size() const { return files_.size(); }
    // Notified of each new file.
    files::Waiters& added() { return added_; }

private:
    std::unordered_map<std::string, FileRef> files_;
    files::Waiters added_;
    files::SentCopy::BudgetRef copies_ = std::make_shared<files::CopyBudget>();
};

}  // namespace live::service::segments
