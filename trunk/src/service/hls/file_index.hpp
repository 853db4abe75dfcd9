// FileIndex: the playlists held in memory with their streams, and the store of all other files. Both take precedence over the
// disk: a request is mapped to a path as for any file, and files found here are served from memory.
#pragma once

#include <string>
#include <unordered_map>

#include "service/segments/store.hpp"

namespace live::service::hls {

class Rendition;
class StreamOutput;

struct IndexedPlaylist {
    StreamOutput* output = nullptr;
    Rendition* rendition = nullptr;  // the owner of the playlist; nullptr: the stream itself
};

class FileIndex {
public:
    // Paths are normalized (normal_path). The last entry added for a path wins.
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
    // Number of all files.
    std::size_t size() const { return playlists_.size() + store_.size(); }

private:
    std::unordered_map<std::string, IndexedPlaylist> playlists_;
    segments::Store store_;
};

}  // namespace live::service::hls
