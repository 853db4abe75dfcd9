// HeldFiles: the files of all streams that are in memory, by path: whole ones, and such as are still being made, whose readers
// get what there is and wait for the rest.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/block.hpp"
#include "base/time.hpp"
#include "service/files/waiters.hpp"

namespace live::service::dash {

// The stream whose file it is, for those who count players.
struct HeldStream {
    std::string vhost;
    std::string app;
    std::string stream;
    Duration idle_limit{};  // of a player: one that asks for nothing for so long has gone
};
// Its owners are the stream and its files.
using HeldStreamRef = std::shared_ptr<const HeldStream>;

class HeldFile {
public:
    explicit HeldFile(HeldStreamRef stream) : stream_(std::move(stream)) {}
    const HeldStreamRef& stream() const { return stream_; }
    void add(Block block) {
        blocks_.push_back(std::move(block));
        waiters_.raise();
    }
    // Nothing comes any more. Without a block it has come to nothing.
    void end() {
        is_whole_ = true;
        waiters_.raise();
    }
    const std::vector<Block>& blocks() const { return blocks_; }
    // When nobody asks for it any more.
    std::vector<Block> take_blocks() { return std::exchange(blocks_, {}); }
    // Of what there is.
    std::size_t bytes() const {
        return std::accumulate(blocks_.begin(), blocks_.end(), std::size_t{0},
                               [](std::size_t sum, const Block& block) { return sum + block->size(); });
    }
    bool is_whole() const { return is_whole_; }
    files::Waiters& waiters() { return waiters_; }
    // Somebody asked for it.
    void note_asked() { was_asked_ = true; }
    bool was_asked() const { return was_asked_; }

private:
    HeldStreamRef stream_;
    std::vector<Block> blocks_;
    files::Waiters waiters_;
    bool is_whole_ = false;
    bool was_asked_ = false;
};

// Its owners are the stream that makes it, HeldFiles, and requests, which may take longer than the file is held.
using HeldFileRef = std::shared_ptr<HeldFile>;

class HeldFiles {
public:
    // By path in one spelling (files::normal_path). What was there under that name is not found any more.
    HeldFileRef add(const std::string& path, const HeldStreamRef& stream) {
        return files_[path] = std::make_shared<HeldFile>(stream);
    }
    void remove(const std::string& path, const HeldFileRef& file) {
        if (const auto found = files_.find(path); found != files_.end() && found->second == file)
            files_.erase(found);
    }
    HeldFileRef find(const std::string& path) const {
        const auto found = files_.find(path);
        return found == files_.end() ? nullptr : found->second;
    }
    std::size_t size() const { return files_.size(); }

private:
    std::unordered_map<std::string, HeldFileRef> files_;
};

}  // namespace live::service::dash
