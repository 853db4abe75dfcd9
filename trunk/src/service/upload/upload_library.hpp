// UploadLibrary: what uploads ask of the library of recordings, which app answers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "base/text/wall_time_text.hpp"
#include "io/fibers/deadline.hpp"

namespace live::service::upload {

// A complete recording.
struct LocalFile {
    std::string vhost;
    std::string app;
    std::string stream;
    std::string path;
    std::string name;  // its path below the folder of all recordings of the virtual host
    WallTime start{};
    std::uint64_t bytes = 0;
    bool is_pinned = false;
};

struct Uploaded {
    std::string bucket;
    std::string key;
    std::uint64_t bytes = 0;
    std::string etag;
    std::string error;  // empty when the object is complete
};

class UploadLibrary {
public:
    // False while the files are still being read after a start.
    virtual bool is_complete() const = 0;
    // Calls `each` with the complete recordings after the first `skip`, until it returns false. Neither may suspend.
    virtual void for_each(std::size_t skip, const std::function<bool(const LocalFile&)>& each) const = 0;
    // Deletes one recording that is not pinned. Whether it is gone.
    virtual Result<bool> remove(const LocalFile& file, io::Deadline deadline) = 0;
    // Must not suspend.
    virtual void on_upload(const LocalFile& file, const Uploaded& uploaded) = 0;

protected:
    ~UploadLibrary() = default;
};

}  // namespace live::service::upload
