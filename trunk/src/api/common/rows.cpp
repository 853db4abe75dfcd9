#include "api/common/rows.hpp"

#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"
#include "engine/workers/row_report.hpp"
#include "wire/http/status.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;
using engine::workers::Field;
using engine::workers::Names;
using engine::workers::Workers;
using session::http::Reply;
using session::http::Request;

Json row_json(const Row& row);

struct JsonValue {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const Row& value) const { return row_json(value); }
    Json operator()(const Rows& value) const {
        Json list = Json::array();
        for (const Row& row : value)
            list.push_back(row_json(row));
        return list;
    }
    Json operator()(const engine::workers::Texts& value) const { return value; }
    Json operator()(const Names& value) const { return value.size(); }
    Json operator()(const Workers& value) const { return value.is_list ? Json(value.numbers) : Json(value.numbers.front()); }
    template <class Plain>
    Json operator()(const Plain& value) const {
        return value;
    }
};

Json row_json(const Row& row) {
    Json json = Json::object();
    for (const Field& field : row.fields)
        if (const auto* workers = std::get_if<Workers>(&field.value); workers == nullptr || !workers->numbers.empty())
            json[field.name] = std::visit(JsonValue(), field.value);
    return json;
}

}  // namespace

bool asks_report(const Request& request) {
    return request.is_sibling && request.message.headers.find("Accept") == engine::workers::kReportType;
}

Reply report_reply(std::string report) {
    return {wire::http::Status::ok, std::string(engine::workers::kReportType), std::move(report), {}};
}

std::string json_text(const Row& row) { return text_of(row_json(row)); }

Reply row_reply(const Request& request, const ServerInfo& server, std::string_view key, const Row& row) {
    return asks_report(request) ? report_reply(write_row_report(row))
                                : json_reply(request, envelope(server, key, json_text(row)));
}

ListAnswer::ListAnswer(const Request& request) : request_(request), is_report_(asks_report(request)) {}

void ListAnswer::add(const Row& row) {
    ++size_;
    if (is_report_)
        engine::workers::append_row(text_, row);
    else
        text_ += (size_ > 1 ? "," : "") + json_text(row);
}

Reply ListAnswer::reply(const ServerInfo& server, std::string_view key, const Page& page, std::size_t total) {
    if (is_report_)
        return report_reply(engine::workers::write_row_report({{"total", total, kAdd}}) + text_);
    return json_reply(request_, list_envelope(server, key, "[" + text_ + "]", page, total));
}

}  // namespace live::api
