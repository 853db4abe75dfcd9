// For tests of the API's handlers: queries a router without a connection. The test includes the JSON library, so that no header
// does.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/common/endpoints.hpp"
#include "api/common/server_info.hpp"
#include "engine/workers/row_report.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "session/http/router.hpp"

namespace live::api {

inline session::http::Request request_of(const std::string& target, const std::string& method = "GET") {
    session::http::Request request;
    request.message.method = method;
    request.message.target = target;
    request.target = MUST(wire::http::parse_target(target));
    return request;
}

// A request of the worker that combines the answers of all.
inline session::http::Request report_request_of(const std::string& target) {
    session::http::Request request = request_of(target);
    request.is_sibling = true;
    request.message.headers.add("Accept", std::string(engine::workers::kReportType));
    return request;
}

template <class JsonType>
struct HandlerFixtureOf : ::testing::Test {
    using Json = JsonType;
    using Fields = std::vector<std::pair<std::string, typename Json::value_t>>;
    static constexpr auto kText = Json::value_t::string;
    static constexpr auto kWhole = Json::value_t::number_unsigned;  // or a negative one
    static constexpr auto kReal = Json::value_t::number_float;
    static constexpr auto kBool = Json::value_t::boolean;
    static constexpr auto kObject = Json::value_t::object;
    static constexpr auto kNull = Json::value_t::null;

    HandlerFixtureOf() {
        info.server_id = "vid-4k2m9xa";
        info.service_id = "s7d01k2p";
        info.process_id = 4321;
        endpoints.mount(router, Ports::api | Ports::streams);
    }

    session::http::Reply ask(const std::string& target, const std::string& method = "GET") {
        session::http::Request request = request_of(target, method);
        request.message.headers = headers;
        const auto match = router.find(request);
        return match.handler->handle(request, io::Deadline::after(io::kSoon));
    }
    // For another worker.
    engine::workers::RowReport ask_report(const std::string& target) {
        const session::http::Request request = report_request_of(target);
        const auto reply = router.find(request).handler->handle(request, io::Deadline::after(io::kSoon));
        EXPECT_EQ(reply.status, 200);
        return MUST(engine::workers::parse_row_report(as_bytes(reply.body)));
    }
    // Checks the envelope of a 200.
    Json ask_json(const std::string& target, int status = 200) {
        const auto reply = ask(target);
        EXPECT_EQ(reply.status, status) << reply.body;
        EXPECT_EQ(reply.content_type, "application/json");
        Json json = Json::parse(reply.body, nullptr, false);
        EXPECT_FALSE(json.is_discarded()) << reply.body;
        if (status == 200) {
            EXPECT_EQ(json["code"], 0);
            EXPECT_EQ(json["server"], "vid-4k2m9xa");
            EXPECT_EQ(json["service"], "s7d01k2p");
            EXPECT_EQ(json["pid"], "4321");
        } else {
            EXPECT_TRUE(json["message"].is_string());
        }
        return json;
    }
    static void expect_fields(const Json& object, const Fields& fields) {
        EXPECT_EQ(object.size(), fields.size()) << object.dump();
        for (const auto& [name, type] : fields) {
            ASSERT_TRUE(object.contains(name)) << name;
            const bool same = object[name].type() == type || (type == kWhole && object[name].is_number_integer());
            EXPECT_TRUE(same) << name << " is " << object[name].type_name();
        }
    }

    std::unique_ptr<io::Loop> loop = *io::Loop::create();
    ServerInfo info;
    Endpoints endpoints{info};
    session::http::Router router;
    engine::http1::Headers headers;  // of every request
};

}  // namespace live::api
