// Pages of the API's lists: start= and count= of a request, total and next of the answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/common/server_info.hpp"
#include "base/result.hpp"
#include "session/http/handler.hpp"

namespace live::api {

struct Page {
    static constexpr std::size_t kDefault = 10;
    static constexpr std::size_t kMost = 10'000;

    std::size_t start = 0;
    std::size_t count = kDefault;  // at most kMost, however much is asked for
};

// Errc::malformed unless `start` is a number from 0 and `count` one from 1; both may be missing or empty.
Result<Page> page_of(const session::http::Request& request, std::size_t default_count = Page::kDefault);
// 400 with the error's sentence.
session::http::Reply refuse_page(const Error& error);

// envelope() with the entries, an array, and after it `total` and `next`, the start of the next page or null.
std::string list_envelope(const ServerInfo& server, std::string_view key, std::string_view entries, const Page& page,
                          std::size_t total);

}  // namespace live::api
