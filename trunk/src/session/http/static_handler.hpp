// StaticHandler: serves the files of a folder over HTTP: whole (text also compressed), in ranges, or with 304 if the client
// already has them; FLV files also from the middle (?start=). Files may have any size: they are sent in pieces, and parts not
// cached are read in a worker thread. No listings, nothing outside the folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "session/content/open_files.hpp"
#include "session/http/handler.hpp"

namespace live::session::http {

// The file of a request.
struct FilePlace {
    std::string folder;
    std::string path;     // below it
    std::string vhost{};  // name of the serving virtual host in the settings; empty if missing
};

class FileRoots {
public:
    virtual ~FileRoots() = default;
    // None: no files for such a request. Must not suspend.
    virtual std::optional<FilePlace> find(const Request& request) const = 0;
    // Checks whether the client may have that file: the rules of an output's virtual host apply to its files, even to leftover
    // ones. May suspend.
    virtual Result<void> check(const Request& /*request*/, const FilePlace& /*place*/, io::Deadline /*deadline*/) const {
        return {};
    }
};

class StaticHandler final : public Handler {
public:
    // `roots` outlives this.
    explicit StaticHandler(const FileRoots& roots) : roots_(roots) {}

    Result<void> serve(Exchange& exchange, io::Deadline deadline) override;
    const content::OpenFiles& open_files() const { return files_; }
    // Closes files without requests. To be called each second.
    void trim(TimePoint now) { files_.trim(now); }

private:
    Result<void> send_file(Exchange& exchange, content::ServedFile& file, std::string_view path, io::Deadline deadline);

    const FileRoots& roots_;
    content::OpenFiles files_;
};

}  // namespace live::session::http
