#include "bench/rtmp/rtmp_open.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::bench {

namespace rtmp = engine::rtmp;

namespace {

constexpr std::uint16_t kRtmpPort = 1935;
constexpr std::uint16_t kRtmpsPort = 443;

struct Target {
    Place place;
    std::string tc_url, app, stream;
};

Result<Target> target_of(std::string_view url) {
    auto parsed = TRY(wire::rtmp::parse_stream_url(url));
    if (parsed.schema != "rtmp" && parsed.schema != "rtmps")
        return Error(Errc::malformed, fmt::format("\"{}\" is not an rtmp:// or rtmps:// URL", url));
    if (parsed.stream.empty())
        return Error(Errc::malformed, fmt::format("\"{}\" has no stream: rtmp://HOST/APP/STREAM", url));
    const bool is_secure = parsed.schema == "rtmps";
    const std::uint16_t port = parsed.port != 0 ? parsed.port : is_secure ? kRtmpsPort : kRtmpPort;
    const std::string host = parsed.host.find(':') == std::string::npos ? parsed.host : fmt::format("[{}]", parsed.host);
    return Target{{parsed.host, port, is_secure},
                  fmt::format("{}://{}:{}/{}", parsed.schema, host, port, parsed.app),
                  parsed.app,
                  parsed.stream + parsed.param};
}

// Some servers redirect to the application only, without the stream.
std::string redirect_target(const std::string& redirect, const Target& from) {
    if (redirect.ends_with("/" + from.app))
        return redirect + "/" + from.stream;
    return redirect;
}

// One connection: it is opened, or the server redirects.
class Opening {
public:
    Opening(LoadClient& client, const Target& target, rtmp::ClientOptions::Mode mode)
        : client_(client), target_(target), mode_(mode) {
        rtmp::ClientOptions options;
        options.mode = mode;
        options.tc_url = target.tc_url;
        options.app = target.app;
        options.stream = target.stream;
        options.handshake = rtmp::HandshakeForm::simple;
        opened.engine = std::make_unique<rtmp::Client>(std::move(options), client.context.random());
    }

    Result<void> run(io::Deadline deadline) {
        opened.stream = TRY(client_.context.dialer.dial(target_.place, deadline));
        client_.meter.on_connected(io::now());
        TRY(opened.engine->start(io::now()));
        while (!opened.engine->is_started() && redirect.empty()) {
            TRY(write_output(client_, opened, deadline));
            const std::size_t count = TRY(opened.stream->read_some(client_.scratch(), deadline));
            client_.count_in(count);
            TRY(handle(Bytes(client_.scratch()).first(count)));
        }
        return write_output(client_, opened, deadline);
    }

    OpenedRtmp opened;
    std::string redirect;

private:
    Result<void> handle(Bytes input) {
        auto handled = opened.engine->handle_bytes(io::now(), input);
        while (auto event = opened.engine->poll_event()) {
            const auto* rejected = std::get_if<rtmp::Rejected>(&*event);
            if (rejected == nullptr)
                continue;
            if (!rejected->redirect_url)
                return Error(Errc::denied, fmt::format("the server refuses: {}: {}", rejected->code, rejected->description));
            redirect = redirect_target(*rejected->redirect_url, target_);
            return {};
        }
        TRY(std::move(handled));
        const std::size_t handshake = std::min(handshake_left_, input.size());
        handshake_left_ -= handshake;
        if (mode_ != rtmp::ClientOptions::Mode::play)
            return {};
        input = input.subspan(handshake);
        if (opened.chunks.size() + input.size() > kOpeningBytesMax)
            return Error(Errc::limit, fmt::format("more than {} bytes before the stream starts", kOpeningBytesMax));
        opened.chunks.insert(opened.chunks.end(), input.begin(), input.end());
        return {};
    }

    LoadClient& client_;
    const Target& target_;
    const rtmp::ClientOptions::Mode mode_;
    std::size_t handshake_left_ = kServerHandshakeBytes;
};

}  // namespace

Result<OpenedRtmp> open_rtmp(LoadClient& client, rtmp::ClientOptions::Mode mode, io::Deadline deadline) {
    std::string url = client.url;
    for (int hop = 0; hop <= kRedirectsMax; ++hop) {
        const Target target = TRY(target_of(url));
        Opening opening(client, target, mode);
        TRY(opening.run(deadline));
        if (opening.redirect.empty())
            return std::move(opening.opened);
        url = opening.redirect;
        LOG_INFO(client.log, "redirected to {}", url);
    }
    return Error(Errc::limit, fmt::format("more than {} redirects", kRedirectsMax));
}

Result<void> write_output(LoadClient& client, OpenedRtmp& opened, io::Deadline deadline) {
    if (!opened.engine->has_output())
        return {};
    std::vector<std::uint8_t> output;
    opened.engine->take_output(output);
    const std::array parts{io::as_part(output)};
    TRY(opened.stream->write_all(parts, deadline));
    client.count_out(output.size());
    return {};
}

}  // namespace live::bench
