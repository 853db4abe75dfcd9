// The stream of a request for a snapshot: FOLDER/APP/STREAM.jpg, with its virtual host in the query.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "session/http/handler.hpp"

namespace live::api {

struct SnapshotPath {
    std::string vhost;  // as asked for, or the default one
    std::string app;
    std::string stream;
    std::string url;  // of the source

    // Errc::not_found: another form, or names that no stream has.
    static Result<SnapshotPath> of(const session::http::Request& request, std::string_view folder);
};

int snapshot_status(Errc code);
session::http::Reply snapshot_reply(std::string_view picture, std::string_view cache_control);

}  // namespace live::api
