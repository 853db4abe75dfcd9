// The table of the API (common/route.hpp) as an OpenAPI 3.1 description: /api/v1/openapi.json.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "api/common/endpoints.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// The description of these rows, as JSON.
std::string openapi_text(std::span<const Route* const> rows);

class OpenApiHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/openapi.json";

    // `endpoints` outlives this.
    explicit OpenApiHandler(const Endpoints& endpoints) : endpoints_(endpoints) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const Endpoints& endpoints_;
    std::size_t rows_ = 0;  // in text_; rows are only ever added
    std::string text_;
};

}  // namespace live::api
