#include "api/debug/fault_handler.hpp"

#include <string>

#include "api/common/envelope.hpp"
#include "wire/http/status.hpp"
#ifdef LIVE_SIMULATOR
#include <faults.hpp>
#endif

namespace live::api {

namespace {

using wire::http::Status;

bool plant([[maybe_unused]] std::string_view kind) {
#ifdef LIVE_SIMULATOR
    return planted::plant(kind);
#else
    return false;
#endif
}

}  // namespace

bool FaultHandler::is_built() {
#ifdef LIVE_SIMULATOR
    return true;
#else
    return false;
#endif
}

session::http::Reply FaultHandler::handle(const session::http::Request& request, io::Deadline) {
    if (!plant(request.target.query.get("kind")))
        return session::http::error_reply(Status::bad_request,
                                          "kind is leak, overflow, use_after_free, stack_overflow or uninitialised");
    return json_reply(request, envelope(server_));
}

}  // namespace live::api
