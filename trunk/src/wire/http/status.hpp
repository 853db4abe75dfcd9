// HTTP status codes that we send or check for (RFC 9110, 15; RFC 6585, 5). A status received from a peer stays an int.
#pragma once

namespace live::wire::http {

enum Status : int {
    switching_protocols = 101,
    ok = 200,
    created = 201,
    no_content = 204,
    partial_content = 206,
    moved_permanently = 301,
    found = 302,
    not_modified = 304,
    temporary_redirect = 307,
    bad_request = 400,
    unauthorized = 401,
    forbidden = 403,
    not_found = 404,
    method_not_allowed = 405,
    request_timeout = 408,
    conflict = 409,
    precondition_failed = 412,
    content_too_large = 413,
    uri_too_long = 414,
    unsupported_media_type = 415,
    range_not_satisfiable = 416,
    unprocessable_content = 422,
    upgrade_required = 426,
    request_header_fields_too_large = 431,
    internal_server_error = 500,
    service_unavailable = 503,
    version_not_supported = 505,
};

}  // namespace live::wire::http
