// KeyFile: the key of some segments as players request it, in the store while this exists.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/bytes/block.hpp"
#include "service/segments/store.hpp"

namespace live::service::hls {

class KeyFile {
public:
    // `store` must outlive this.
    KeyFile(segments::Store& store, std::string path, const segments::StreamOfFilesRef& stream, const Block& bytes)
        : store_(store), path_(std::move(path)), file_(store.add(path_, stream, {bytes})) {}
    ~KeyFile() { store_.remove(path_, file_); }
    KeyFile(const KeyFile&) = delete;
    KeyFile& operator=(const KeyFile&) = delete;

    const std::string& path() const { return path_; }

private:
    segments::Store& store_;
    const std::string path_;
    const segments::FileRef file_;
};
// Owners: the segments that need the key, and Keys for the next one.
using KeyFileRef = std::shared_ptr<const KeyFile>;

}  // namespace live::service::hls
