// /api/v1/tcmalloc: the allocator's own figures, in builds with gperftools.
#pragma once

#include <cstddef>
#include <string>

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// app implements it over the library. Must not suspend.
class Allocator {
public:
    virtual ~Allocator() = default;
    // The value of a property such as "generic.heap_size"; 0 if missing.
    virtual std::size_t property(const char* name) const = 0;
    virtual double release_rate() const = 0;
    // The library's report as text.
    virtual std::string summary() const = 0;
};

class AllocatorHandler final : public session::http::Handler {
public:
    // Both outlive this.
    AllocatorHandler(const ServerInfo& server, const Allocator& allocator) : server_(server), allocator_(allocator) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const Allocator& allocator_;
};

}  // namespace live::api
