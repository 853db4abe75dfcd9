// StaticHandler: files of a folder over HTTP: whole, in ranges, or not at all because the client has them already; FLV files also
// from the middle (?start=). Of any size: they go out in pieces, and what is not in memory is read in a worker thread. No
// listings, nothing outside the folder.
#pragma once

#include <optional>
#include <string>

#include "session/http/handler.hpp"

namespace live::session::http {

// Where a request's file would be.
struct FilePlace {
    std::string folder;
    std::string path;     // below it
    std::string vhost{};  // that serves the request, by its name in the settings; empty when none does
};

class FileRoots {
public:
    virtual ~FileRoots() = default;
    // None: there are no files for such a request. Must not suspend.
    virtual std::optional<FilePlace> find(const Request& request) const = 0;
};

class StaticHandler final : public Handler {
public:
    // `roots` outlives this.
    explicit StaticHandler(const FileRoots& roots) : roots_(roots) {}

    Result<void> serve(Exchange& exchange, io::Deadline deadline) override;

private:
    const FileRoots& roots_;
};

}  // namespace live::session::http
