#include "api/debug/allocator_handler.hpp"

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"

namespace live::api {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

using session::http::Reply;
using session::http::Request;

Reply AllocatorHandler::handle(const Request& request, io::Deadline) {
    const std::string page(request.target.query.get("page"));
    if (page == "summary")
        return {200, "text/plain", allocator_.summary(), {}};
    Json generic;
    for (const char* name : {"current_allocated_bytes", "heap_size"})
        generic[name] = allocator_.property((std::string("generic.") + name).c_str());
    Json own;
    for (const char* name : {"pageheap_free_bytes", "pageheap_unmapped_bytes", "slack_bytes", "max_total_thread_cache_bytes",
                             "current_total_thread_cache_bytes"})
        own[name] = allocator_.property((std::string("tcmalloc.") + name).c_str());
    const Json data = {{"query", {{"page", page}, {"help", "page=summary gives the allocator's own text"}}},
                       {"release_rate", allocator_.release_rate()},
                       {"generic", generic},
                       {"tcmalloc", own}};
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

}  // namespace live::api
