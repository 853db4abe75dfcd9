// DashHandler: answers GET of MPDs, headers and segments of streams held in memory. A segment in progress is sent with chunked
// transfer encoding, each chunk as soon as it is available; a request for the next segment waits for it. A virtual host serves
// only its own streams.
#pragma once

#include <chrono>
#include <optional>

#include "base/options_of.hpp"
#include "service/dash/options.hpp"
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
    DashHandler(segments::Store& store, const OptionsOf<DashOptions>& options, const session::http::FileRoots& roots,
                files::Sessions& sessions)
        : store_(store), options_(options), roots_(roots), viewers_(sessions) {}

    bool takes(const session::http::Request& request) const override {
        return find(request).file != nullptr || pulled_by(request).has_value();
    }
    Result<void> serve(session::http::Exchange& exchange, io::Deadline deadline) override;

private:
    struct Found {
        segments::FileRef file;
        bool is_others = false;  // belongs to another virtual host than the requested one
    };
    Found find(const session::http::Request& request) const;
    bool may_have(const session::http::Request& request, const Found& found, bool is_mpd) const;
    Result<void> send_growing(session::http::Exchange& exchange, segments::File& file, io::Deadline deadline);

    // The stream that is pulled from another server for the request of its MPD; none when it is here, or cannot be.
    std::optional<segments::StreamOfFiles> pulled_by(const session::http::Request& request) const;
    // The MPD exists after the stream's first segment. After the limit the request is answered with what is there.
    Result<void> wait_for_mpd(const session::http::Request& request, io::Deadline deadline);

    segments::Store& store_;
    const OptionsOf<DashOptions>& options_;
    const session::http::FileRoots& roots_;
    Viewers viewers_;
};

}  // namespace live::service::dash
