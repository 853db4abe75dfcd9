// FileIndex: which playlists are held in memory, and by which stream; and the store of all other files. Both stand in front of
// the disk: a request is led to a path as for any file, and what is in here is answered from memory.
#pragma once

#include <string>
#include <unordered_map>

#include "service/segments/store.hpp"

namespace live::service::hls {

class Rendition;
class StreamOutput;

struct IndexedPlaylist {
    StreamOutput* output = nullptr;
    Rendition* rendition = nullptr;  // whose playlist it is; none: the stream's own
};

class FileIndex {
public:
    // By path in one spelling (normal_path). The one added last counts.
    void add(const std::string& path, const IndexedPlaylist& playlist) { playlists_[path] = playlist; }
    void remove(const std::string& path, const StreamOutput& output) {
        if (const auto found = playlists_.find(path); found != playlists_.end() && found->second.output == &output)
            playlists_.erase(found);
    }
    const IndexedPlaylist* find(const std::string& path) const {
        const auto found = playlists_.find(path);
        return found == playlists_.end() ? nullptr : &found->second;
    }
    segments::Store& store() { return store_; }
    const segments::Store& store() const { return store_; }
    // Of all files.
    std::size_t size() const { return playlists_.size() + store_.size(); }

private:
    std::unordered_map<std::string, IndexedPlaylist> playlists_;
    segments::Store store_;
};

}  // namespace live::service::hls
