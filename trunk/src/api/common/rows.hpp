// The forms of an answer that is made of rows (engine/workers/row.hpp): JSON for clients, a report for the worker that combines
// the answers of all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/common/page.hpp"
#include "api/common/server_info.hpp"
#include "engine/workers/row.hpp"
#include "session/http/handler.hpp"

namespace live::api {

using engine::workers::Row;
using engine::workers::Rows;

// The rule of fields that are added up over the workers.
inline constexpr auto kAdd = engine::workers::Combine::add;

// Reports whether another worker requests a report.
bool asks_report(const session::http::Request& request);
session::http::Reply report_reply(std::string report);

std::string json_text(const Row& row);

// An object: the member `key` of the envelope.
session::http::Reply row_reply(const session::http::Request& request, const ServerInfo& server, std::string_view key,
                               const Row& row);

// A page of a list. Rows are written as they are added: a long list is made in portions.
class ListAnswer {
public:
    // The request outlives this.
    explicit ListAnswer(const session::http::Request& request);

    void add(const Row& row);
    // Rows added so far.
    std::size_t size() const { return size_; }
    // `total`: the entries of all pages. At most once.
    session::http::Reply reply(const ServerInfo& server, std::string_view key, const Page& page, std::size_t total);

private:
    const session::http::Request& request_;
    const bool is_report_;
    std::string text_;
    std::size_t size_ = 0;
};

}  // namespace live::api
