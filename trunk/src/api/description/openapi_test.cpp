#include "api/description/openapi.hpp"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "base/version.hpp"

namespace live::api {
namespace {

using session::http::Handler;
using session::http::Reply;
using session::http::Request;
using Json = nlohmann::ordered_json;

class Fixed final : public Handler {
public:
    Reply handle(const Request&, io::Deadline) override { return {}; }
};

Json description() {
    std::vector<const Route*> rows;
    for (const Route& route : routes())
        rows.push_back(&route);
    return Json::parse(openapi_text(rows), nullptr, false);
}

void expect_named(const Json& schema, const std::string& where) {
    if (!schema.contains("properties"))
        return;
    for (const auto& [name, inner] : schema["properties"].items()) {
        EXPECT_FALSE(name.empty()) << where;
        EXPECT_TRUE(inner.contains("type")) << where << "." << name;
        const bool is_closed = inner["type"] == "object" && !inner.contains("additionalProperties");
        EXPECT_FALSE(is_closed && inner["properties"].empty()) << where << "." << name << ": an object without members";
        expect_named(inner.contains("items") ? inner["items"] : inner, where + "." + name);
    }
}

TEST(OpenApi, DescribesEveryRowWithOwnIdsAndAnswers) {
    const Json api = description();
    ASSERT_TRUE(api.is_object());
    EXPECT_EQ(api["openapi"], "3.1.0");
    EXPECT_EQ(api["info"]["version"], std::string(kVersion));
    std::set<std::string> ids;
    for (const Route& route : routes()) {
        const std::string path = std::string(route.path) + std::string(route.entry);
        ASSERT_TRUE(api["paths"].contains(path)) << path;
    }
    for (const auto& [path, item] : api["paths"].items())
        for (const auto& [method, operation] : item.items()) {
            if (method == "x-ports")
                continue;
            EXPECT_TRUE(ids.insert(operation["operationId"]).second) << path << " " << method;
            EXPECT_FALSE(operation["responses"].empty()) << path;
            for (const auto& [status, response] : operation["responses"].items())
                if (response.contains("content") && response["content"].contains("application/json"))
                    expect_named(response["content"]["application/json"]["schema"], path);
        }
}

TEST(OpenApi, DescribesEntriesMethodsAndBodies) {
    const Json paths = description()["paths"];
    const Json& client = paths["/api/v1/clients/{id}"];
    EXPECT_EQ(client["get"]["parameters"][0]["in"], "path");
    EXPECT_TRUE(client["get"]["responses"]["200"]["content"]["application/json"]["schema"]["properties"].contains("client"));
    EXPECT_TRUE(client.contains("delete"));
    EXPECT_FALSE(paths["/api/v1/clients/"].contains("delete"));
    const Json page = paths["/api/v1/clients/"]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
    EXPECT_EQ(page["properties"]["next"]["type"], Json({"integer", "null"}));
    EXPECT_TRUE(paths.contains("/api/v1/snapshot/{app}/{stream}.jpg"));
    const Json& whip = paths["/rtc/v1/whip/"];
    EXPECT_TRUE(whip["post"]["responses"]["201"]["headers"].contains("Location"));
    EXPECT_FALSE(whip["patch"]["responses"]["204"].contains("content"));
    EXPECT_TRUE(whip["post"]["requestBody"]["content"].contains("application/sdp"));
    EXPECT_FALSE(whip.contains("get"));
    EXPECT_FALSE(paths["/api/v1/tests/errors"]["get"]["responses"].contains("200"));
}

struct OpenApiHandlerTest : HandlerFixtureOf<Json> {};

TEST_F(OpenApiHandlerTest, DescribesOnlyEndpointsWithAHandler) {
    Fixed handler;
    endpoints.add<OpenApiHandler>(OpenApiHandler::kPath, endpoints);
    const auto paths = [&] { return Json::parse(ask(OpenApiHandler::kPath).body, nullptr, false)["paths"]; };
    EXPECT_TRUE(paths().contains(OpenApiHandler::kPath));
    EXPECT_FALSE(paths().contains("/healthz"));
    endpoints.serve("/healthz", handler);
    EXPECT_TRUE(paths().contains("/healthz"));
}

}  // namespace
}  // namespace live::api
