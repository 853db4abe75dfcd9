// DashHandler: answers GET of MPDs, headers and segments of streams held in memory. A segment in progress is sent with chunked
// transfer encoding, each chunk as soon as it is available; a request for the next segment waits for it. A virtual host serves
// only its own streams.
#pragma once

#include <chrono>

#include "service/dash/viewers.hpp"
#include "service/segments/store.hpp"
#include "session/http/exchange.hpp"
#include "session/http/handler.hpp"
#include "session/http/static_handler.hpp"

namespace live::service::dash {

class DashHandler final : public session::http::Handler {
public:
    // Time limit for the first chunk and for each following one.
    static constexpr std::chrono::seconds kWaitMax{30};

    // Referenced objects must outlive this.
    DashHandler(const segments::Store& store, const session::http::FileRoots& roots, files::Sessions& sessions)
        : store_(store), roots_(roots), viewers_(sessions) {}

    bool takes(const session::http::Request& request) const override { return find(request).file != nullptr; }
    Result<void> serve(session::http::Exchange& exchange, io::Deadline deadline) override;

private:
    struct Found {
        segments::FileRef file;
        bool is_others = false;  // belongs to another virtual host than the requested one
    };
    Found find(const session::http::Request& request) const;
    bool may_have(const session::http::Request& request, const Found& found, bool is_mpd) const;
    Result<void> send_growing(session::http::Exchange& exchange, segments::File& file, io::Deadline deadline);

    const segments::Store& store_;
    const session::http::FileRoots& roots_;
    Viewers viewers_;
};

}  // namespace live::service::dash
