// /api/v1/profile: a CPU profile of the running server, without a special build. ?seconds= from 1 to 60; ?format=folded returns
// named stacks for a flame graph, otherwise the format of pprof.
#pragma once

#include <chrono>

#include "session/http/handler.hpp"

namespace live::api {

class ProfileHandler final : public session::http::Handler {
public:
    static constexpr std::chrono::seconds kDefault{10};

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;
};

}  // namespace live::api
