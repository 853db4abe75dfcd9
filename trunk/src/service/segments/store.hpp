// Store: the files of one output's streams that are in memory, by path: headers, segments and parts, whole ones and such as are
// still being made or only promised, whose readers wait for what comes.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/block.hpp"
#include "base/time.hpp"
#include "service/files/send_blocks.hpp"
#include "service/files/sent_copy.hpp"
#include "service/files/waiters.hpp"

namespace live::service::segments {

// The stream whose files they are.
struct StreamOfFiles {
    std::string vhost;
    std::string app;
    std::string stream;
    Duration idle_limit{};  // of a player: one that asks for nothing for so long has gone
    Duration wait_limit{};  // what a request for a promised file waits for it at most
    TimePoint asked_at{};   // the last request of any file
};
// Its owners are the stream's output and its files.
using StreamOfFilesRef = std::shared_ptr<StreamOfFiles>;

class File;
// Its owners are the output that makes it, the store, parts of it, and requests, which may take longer than the file is held.
using FileRef = std::shared_ptr<File>;

class File {
public:
    // A whole file of fewer bytes is sent from memory: the kernel copies it as quickly.
    static constexpr std::size_t kCopyMin = 4 << 10;

    File(StreamOfFilesRef stream, const files::SentCopy::BudgetRef& copies) : stream_(std::move(stream)), copy_(copies) {}
    // A part of `segment`: it is sent from the copy of that. Its blocks are added to both, to this one first.
    File(FileRef segment, const files::SentCopy::BudgetRef& copies)
        : stream_(segment->stream()), segment_(std::move(segment)), copy_(copies) {}

    const StreamOfFilesRef& stream() const { return stream_; }
    void add(Block block);
    // Nothing comes any more. Without a block it has come to nothing.
    void end();
    bool is_whole() const { return is_whole_; }
    const std::vector<Block>& blocks() const { return blocks_; }
    // From memory; what is left is the name. For files that are whole.
    std::vector<Block> let_go();
    // Of what there is.
    std::size_t bytes() const {
        return std::accumulate(blocks_.begin(), blocks_.end(), std::size_t{0},
                               [](std::size_t sum, const Block& block) { return sum + block->size(); });
    }

    // The same bytes for one request of them, when there are many; else no file.
    files::CopyOfBlocks copy_for_request();

    files::Waiters& waiters() { return waiters_; }

private:
    StreamOfFilesRef stream_;
    FileRef segment_;  // this is a part of it
    std::uint64_t offset_ = 0;
    std::vector<Block> blocks_;
    files::SentCopy copy_;
    files::Waiters waiters_;
    bool is_whole_ = false;
};

class Store {
public:
    // By path in one spelling (files::normal_path). What was there under that name is not found any more.
    FileRef add(const std::string& path, const StreamOfFilesRef& stream) {
        return files_[path] = std::make_shared<File>(stream, copies_);
    }
    FileRef add_part(const std::string& path, const FileRef& segment) {
        return files_[path] = std::make_shared<File>(segment, copies_);
    }
    // One that nobody finds, until it is put there.
    FileRef make(const StreamOfFilesRef& stream) const { return std::make_shared<File>(stream, copies_); }
    void put(const std::string& path, const FileRef& file) { files_[path] = file; }
    // A whole one.
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

private:
    std::unordered_map<std::string, FileRef> files_;
    files::SentCopy::BudgetRef copies_ = std::make_shared<files::CopyBudget>();
};

}  // namespace live::service::segments
