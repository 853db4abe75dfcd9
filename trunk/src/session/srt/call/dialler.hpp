// Dialler: connections that this server makes: pulls a stream from another server and publishes it here, or pushes one of its own
// to another server. Each call runs in its caller's fiber.
#pragma once

#include <functional>
#include <memory>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/source.hpp"
#include "session/common/traffic.hpp"
#include "session/srt/call/byte_stream.hpp"
#include "session/srt/call/call.hpp"
#include "session/srt/call/call_url.hpp"
#include "session/srt/context.hpp"

namespace live::session::srt {

class PushSession;

class Dialler {
public:
    // `ready` starts the port and the players, unless they run; see Port::start. Everything referred to outlives this.
    Dialler(Context& context, std::function<Result<void>()> ready) : context_(context), ready_(std::move(ready)) {}

    // Publishes the server's stream, as `request`, until something ends it; returns that error. Checks admission once it is
    // connected.
    Result<void> pull(const CallUrl& url, ClientRequest request, const Log& log, const OnPulling& on_pulling,
                      io::Deadline deadline);
    // Opens the server's stream for a caller that reads and publishes it in its own way. Errors as Call::connect.
    Result<std::unique_ptr<ByteStream>> open(const CallUrl& url, io::Deadline deadline);
    // Called with the session when it begins to send, and with nullptr before it is destroyed.
    using OnPushing = std::function<void(const PushSession* session)>;
    // Sends the source, from a key frame on, until something ends it. After Errc::cancelled the shutdown has been sent.
    Result<void> push(const CallUrl& url, const Ref<media::Source>& source, const Log& log, io::Deadline deadline,
                      const OnPushing& on_pushing = {});

private:
    struct Called {
        std::unique_ptr<Call> call;
        Endpoint endpoint;
    };
    Result<Called> call(const CallUrl& url, Call::Purpose purpose, io::Deadline deadline);

    Context& context_;
    const std::function<Result<void>()> ready_;
};

}  // namespace live::session::srt
