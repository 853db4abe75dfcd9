// DashHandler: answers GET of MPDs, headers and segments of streams that are held in memory. A segment that is still being made
// goes out in HTTP chunks, each as soon as it is there; one that the MPD will name next is waited for. A virtual host gives away
// its own streams only.
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
    // What a request waits for at most: the first chunk, or the next.
    static constexpr std::chrono::seconds kWaitMax{30};

    // What is referred to outlives this.
    DashHandler(const segments::Store& store, const session::http::FileRoots& roots, files::Sessions& sessions)
        : store_(store), roots_(roots), viewers_(sessions) {}

    bool takes(const session::http::Request& request) const override { return find(request).file != nullptr; }
    Result<void> serve(session::http::Exchange& exchange, io::Deadline deadline) override;

private:
    struct Found {
        segments::FileRef file;
        bool is_others = false;  // of another virtual host than the one that was asked
    };
    Found find(const session::http::Request& request) const;
    bool may_have(const session::http::Request& request, const Found& found, bool is_mpd) const;
    Result<void> send_growing(session::http::Exchange& exchange, segments::File& file, io::Deadline deadline);

    const segments::Store& store_;
    const session::http::FileRoots& roots_;
    Viewers viewers_;
};

}  // namespace live::service::dash
