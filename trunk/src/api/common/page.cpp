#include "api/common/page.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "api/common/envelope.hpp"
#include "wire/http/status.hpp"

namespace live::api {

namespace {

std::optional<std::size_t> number_of(std::string_view text) {
    std::size_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    return end.ec == std::errc() && end.ptr == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<Page> page_of(const session::http::Request& request, std::size_t default_count) {
    Page page{0, default_count};
    if (const auto text = request.target.query.get("start"); !text.empty()) {
        const auto start = number_of(text);
        if (!start)
            return Error(Errc::malformed, "start is no number, expected 0 or more");
        page.start = *start;
    }
    if (const auto text = request.target.query.get("count"); !text.empty()) {
        const auto count = number_of(text);
        if (!count || *count == 0)
            return Error(Errc::malformed, fmt::format("count is no number of entries, expected 1 to {}", Page::kMost));
        page.count = std::min(*count, Page::kMost);
    }
    return page;
}

session::http::Reply refuse_page(const Error& error) {
    return session::http::error_reply(wire::http::Status::bad_request, error.sentence());
}

std::string list_envelope(const ServerInfo& server, std::string_view key, std::string_view entries, const Page& page,
                          std::size_t total) {
    const bool has_more = page.start < total && total - page.start > page.count;
    std::string text = envelope(server, key, entries);
    text.pop_back();
    text += fmt::format(",\"total\":{},\"next\":{}}}", total, has_more ? std::to_string(page.start + page.count) : "null");
    return text;
}

}  // namespace live::api
