// FileMirror: gets what one stream's FileQueue is given to write and to remove, in that order: a copy of the files elsewhere.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes/block.hpp"

namespace live::service::files {

class FileMirror {
public:
    // No more files follow.
    virtual ~FileMirror() = default;
    // Neither suspends. `is_list`: a playlist, of which only the newest version counts.
    virtual void write(const std::string& path, const std::vector<Block>& blocks, bool is_list) = 0;
    virtual void remove(const std::vector<std::string>& paths) = 0;
};

// The stream that the files belong to.
struct MirroredStream {
    std::string vhost;
    std::string app;
    std::string stream;
    std::string url;
};

// Makes mirrors. It outlives them.
class FileMirrors {
public:
    // `target`: where the copy is, as in the conf; `folder`: the base directory of the output, whose files are copied.
    virtual std::unique_ptr<FileMirror> mirror(const std::string& target, const std::string& folder,
                                               const MirroredStream& stream) = 0;

protected:
    ~FileMirrors() = default;
};

}  // namespace live::service::files
