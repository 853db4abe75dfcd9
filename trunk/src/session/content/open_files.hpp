// OpenFiles: files that clients request repeatedly stay open for a while, and many of them in memory: small ones, and for TLS,
// which would copy them from the page cache for each client, those of up to a MiB. A file is checked on each request through its
// descriptor (one fstat), which finds it rewritten, replaced or removed, and at most a second later by its path.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "io/files/file.hpp"

namespace live::session::content {

// An open file and its validators (RFC 9110, 8.8), and a small one's bytes.
class ServedFile {
public:
    explicit ServedFile(io::File file);

    const io::File& file() const { return file_; }
    const io::File::Facts& facts() const { return file_.facts(); }
    // The ETag, with its quotes.
    const std::string& tag() const { return tag_; }
    std::chrono::sys_seconds modified() const { return modified_; }
    // The Last-Modified date.
    const std::string& modified_text() const { return modified_text_; }
    // The whole file, or empty.
    Bytes content() const { return content_; }
    // The file compressed by gzip, or empty; see OpenFiles::compress.
    Bytes compressed() const { return compressed_; }
    // The ETag of the compressed form.
    std::string compressed_tag() const { return tag_.substr(0, tag_.size() - 1) + "-gz\""; }

    // Reads a file of at most `bytes_max` from the page cache, once. It must not have been written to for a second: a later
    // change within the same tick of the kernel's clock would be invisible.
    void keep_content(std::chrono::system_clock::time_point now, std::size_t bytes_max);
    // Compresses the file in a worker thread, once. Until then, and if the file becomes no smaller, compressed() is empty.
    Result<void> compress(io::Deadline deadline);

private:
    io::File file_;
    std::string tag_;
    std::chrono::sys_seconds modified_;
    std::string modified_text_;
    std::vector<std::uint8_t> content_;
    std::vector<std::uint8_t> compressed_;
    bool is_compressing_ = false;  // or has been compressed
};
// Its owners are the cache and the requests that it answers.
using ServedFileRef = std::shared_ptr<ServedFile>;

class OpenFiles {
public:
    // Each has a descriptor.
    static constexpr std::size_t kFilesMax = 128;
    // Bounds of contents in memory: of a file that plain clients request, of one that TLS clients request, and of all together.
    // Larger files go to plain clients by sendfile without a copy.
    static constexpr std::size_t kPlainContentMax = 32 << 10;
    static constexpr std::size_t kTlsContentMax = 1 << 20;
    static constexpr std::size_t kContentBytesMax = 32 << 20;
    // The largest file that is compressed.
    static constexpr std::size_t kCompressedMax = 1 << 20;
    // The longest time during which a folder renamed above a file goes unnoticed.
    static constexpr std::chrono::seconds kCheckedFor{1};
    // A file without requests is closed after this time: a removed file would keep its disk space.
    static constexpr std::chrono::seconds kUnusedMax{5};

    // `path` below `folder`, as io::File::open_below; a folder is returned too, and not kept. `content_max` is one of the bounds
    // above, by the client.
    Result<ServedFileRef> open(const std::string& folder, const std::string& path, std::size_t content_max, TimePoint now,
                               io::Deadline deadline);
    // Makes file.compressed(), unless the file is small or large, or others hold the memory. Errc::cancelled, Errc::timed_out.
    Result<void> compress(ServedFile& file, io::Deadline deadline) const;
    // Closes unused files. To be called each second.
    void trim(TimePoint now);

    std::size_t size() const { return entries_.size(); }
    // Memory of the contents, as they are and compressed.
    std::size_t content_bytes() const;

private:
    struct Entry {
        ServedFileRef file;
        TimePoint opened_at;  // last check by the path
        TimePoint used_at;
    };

    ServedFileRef keep(std::string key, io::File file, std::size_t content_max, TimePoint now);
    void make_room();

    std::unordered_map<std::string, Entry> entries_;  // by folder and path
};

}  // namespace live::session::content
