// FileIndex: which paths are held in memory, and by which stream. It stands in front of the disk: a request is led to a path as
// for any file, and what is in here is answered from memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "service/files/sent_copy.hpp"

namespace live::service::hls {

class StreamOutput;

struct IndexedFile {
    enum class What : std::uint8_t { playlist, init, segment };

    StreamOutput* output = nullptr;
    What what = What::segment;
    std::uint64_t number = 0;
    std::optional<std::uint64_t> part;  // of the segment
};

class FileIndex {
public:
    // By path in one spelling (normal_path). The one added last counts.
    void add(const std::string& path, const IndexedFile& file) { files_[path] = file; }
    void remove(const std::string& path, const StreamOutput& output) {
        if (const auto found = files_.find(path); found != files_.end() && found->second.output == &output)
            files_.erase(found);
    }
    const IndexedFile* find(const std::string& path) const {
        const auto found = files_.find(path);
        return found == files_.end() ? nullptr : &found->second;
    }
    std::size_t size() const { return files_.size(); }
    // Over all streams.
    files::CopyBudget& copies() { return copies_; }

private:
    std::unordered_map<std::string, IndexedFile> files_;
    files::CopyBudget copies_;
};

}  // namespace live::service::hls
