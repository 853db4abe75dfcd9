#include "app/library/uploads.hpp"

#include <cerrno>
#include <cstdlib>

#include <unistd.h>

#include "io/fibers/off_loop.hpp"

namespace live::app {

namespace {

using service::recordings::RecordedStream;
using service::recordings::RecordingFile;
using service::upload::LocalFile;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

// Whether it is gone.
bool delete_file(const std::string& path) { return ::unlink(path.c_str()) == 0 || errno == ENOENT; }

}  // namespace

Uploads::Uploads(Shared shared, const Log& log)
    : shared_(std::move(shared)),
      service_(shared_.settings->upload, {shared_.http, variable, *this, shared_.is_first_worker}, log),
      pushes_(shared_.settings->upload, shared_.http, variable, log) {}

// Below the folder that the names of all recordings of the virtual host begin with.
std::string Uploads::name_of(const std::string& vhost, const std::string& path) const {
    for (const auto& root : shared_.roots()) {
        const std::string folder = root.folder();
        if (root.vhost == vhost && path.starts_with(folder))
            return path.substr(folder.size());
    }
    return path.substr(path.rfind('/') + 1);
}

void Uploads::add(const service::recordings::RecordingEvent& event) {
    service_.add({.vhost = event.vhost,
                  .app = event.app,
                  .stream = event.stream,
                  .path = event.path,
                  .name = name_of(event.vhost, event.path),
                  .start = event.start.value_or(WallTime()),
                  .bytes = event.bytes});
}

void Uploads::for_each(std::size_t skip, const std::function<bool(const LocalFile&)>& each) const {
    for (const auto& [url, stream] : shared_.recordings.index().streams()) {
        if (skip >= stream.files.size()) {
            skip -= stream.files.size();
            continue;
        }
        for (; skip < stream.files.size(); ++skip) {
            const RecordingFile& file = stream.files[skip];
            // A file in progress counts for `skip`, and is no recording yet.
            if (file.is_open)
                continue;
            const LocalFile local{stream.vhost, stream.app, stream.stream, file.path, name_of(stream.vhost, file.path),
                                  file.start,   file.bytes, file.is_pinned};
            if (!each(local))
                return;
        }
        skip = 0;
    }
}

Result<bool> Uploads::remove(const LocalFile& file, io::Deadline deadline) {
    const std::string url = service::recordings::url_of(file.vhost, file.app, file.stream);
    const RecordedStream* const stream = shared_.recordings.index().find(url);
    if (stream != nullptr)
        for (const RecordingFile& known : stream->files)
            if (known.path == file.path && (known.is_pinned || known.is_open))
                return false;
    const bool is_gone = TRY(io::off_loop([path = file.path] { return delete_file(path); }, deadline));
    // The library looks at the path and finds nothing there.
    if (is_gone)
        shared_.recordings.on_recording(
            {.vhost = file.vhost, .app = file.app, .stream = file.stream, .path = file.path, .start = {}, .is_complete = true});
    return is_gone;
}

void Uploads::on_upload(const LocalFile& file, const service::upload::Uploaded& uploaded) {
    session::ClientRequest request;
    request.id = "upload";
    request.vhost = file.vhost;
    request.app = file.app;
    request.stream = file.stream;
    shared_.callbacks.report_upload(request, service::recordings::url_of(file.vhost, file.app, file.stream),
                                    {.cwd = {},
                                     .file = file.path,
                                     .bucket = uploaded.bucket,
                                     .object = uploaded.key,
                                     .bytes = uploaded.bytes,
                                     .etag = uploaded.etag,
                                     .error = uploaded.error});
}

}  // namespace live::app
