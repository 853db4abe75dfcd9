#include "service/relay/token_check.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "service/relay/upstream/flv_upstream.hpp"
#include "service/relay/upstream/rtmp_upstream.hpp"
#include "wire/amf/amf0.hpp"
#include "wire/rtmp/stream_query.hpp"

namespace live::service::relay {

namespace {

// Returns the client's tcUrl with one virtual host, as this server has read it.
std::string tc_url_of(const session::ClientRequest& client) {
    using wire::rtmp::without_vhost;
    if (!client.kind.row().has_connect_call)
        return client.tc_url + without_vhost(client.param);
    const std::size_t query_at = std::min(client.tc_url.find_first_of("?#"), client.tc_url.size());
    const std::string_view query = std::string_view(client.tc_url).substr(query_at);
    if (!wire::rtmp::named_vhost(query))
        return client.tc_url;
    std::string rest = without_vhost(query);
    rest.append(rest.empty() ? "?vhost=" : "&vhost=").append(client.vhost);
    return client.tc_url.substr(0, query_at) + rest;
}

engine::rtmp::ClientOptions connect_of(const session::ClientRequest& client) {
    engine::rtmp::ClientOptions options;
    options.app = client.app;
    options.tc_url = tc_url_of(client);
    options.stream = client.stream;
    options.page_url = client.page_url;
    options.swf_url = client.swf_url;
    if (client.claims == nullptr || client.claims->connect_arguments.empty())
        return options;
    ByteReader in(as_bytes(client.claims->connect_arguments));
    if (auto arguments = wire::amf::read_amf0(in); arguments.ok())
        options.connect_arguments = *std::move(arguments);
    return options;
}

// Returns the origins that can check this client, in the order of the settings.
std::vector<Origin> origins_for(const session::ClientRequest& client, std::vector<Origin> origins) {
    // An SRT call would already play or publish.
    std::erase_if(origins, [](const Origin& origin) { return origin.scheme == Scheme::srt; });
    const auto is_web = [](const Origin& origin) { return is_http(origin.scheme); };
    const bool wants_web = client.kind == session::ClientKind::flv_play && std::ranges::any_of(origins, is_web);
    std::erase_if(origins, [&](const Origin& origin) { return is_web(origin) != wants_web; });
    return origins;
}

}  // namespace

Result<void> TokenCheck::check(const session::ClientRequest& client, const session::StreamPlan& plan,
                               const ClusterOptions& options, io::Deadline deadline) {
    ClusterOptions asked = options;
    if (client.kind.row().has_connect_call)
        asked.protocol = PullProtocol::rtmp;
    Location location = resolver_.find(plan.url, asked, deadline.sooner(io::Deadline::after(kConnectLimit)));
    std::vector<Origin> origins;
    if (auto* located = std::get_if<Located>(&location))
        origins = origins_for(client, std::move(located->origins));
    std::string why = "no origin can be asked";
    for (const Origin& origin : origins) {
        auto stream = rtmp_client::dial({origin.host, origin.port, is_secure(origin.scheme), origin.name}, context_.dial,
                                        deadline.sooner(io::Deadline::after(kConnectLimit)));
        if (!stream.ok() && stream.code() == Errc::cancelled)
            return stream.error();
        if (!stream.ok()) {
            why = stream.error().sentence();
            continue;
        }
        std::unique_ptr<Upstream> upstream;
        if (is_http(origin.scheme))
            upstream =
                std::make_unique<FlvUpstream>(flv_request(wanted_from(origin, client, plan.vhost, asked), context_.node,
                                                          {TRY(extend_path(client.relay_path(), context_.node.server_id))}));
        else
            upstream = std::make_unique<RtmpUpstream>(connect_of(client), random_number(), RtmpUpstream::Until::connected);
        const auto said = ask(**stream, *upstream, deadline.sooner(io::Deadline::after(kAnswerLimit)));
        (*stream)->close();
        if (!said.ok() && said.code() == Errc::cancelled)
            return said;
        if (said.ok())
            LOG_INFO(log_, "edge token auth ok, tcUrl={}", redacted(client.tc_url));
        else
            LOG_WARN(log_, "Illegal edge token, tcUrl={}: {}", redacted(client.tc_url), said.error().sentence());
        return said.ok() ? said : Error(Errc::denied, "the origin refuses the client: " + said.error().sentence());
    }
    LOG_WARN(log_, "Illegal edge token, tcUrl={}: no origin answers (3067): {}", redacted(client.tc_url), why);
    return Error(Errc::denied, "no origin has answered for the client (3067)");
}

Result<void> TokenCheck::ask(io::Stream& stream, Upstream& upstream, io::Deadline deadline) const {
    TRY(upstream.start(io::now()));
    while (!upstream.is_started()) {
        std::vector<std::uint8_t> output;
        upstream.take_output(output);
        const std::array parts{io::as_part(output)};
        if (!output.empty())
            TRY(stream.write_all(parts, deadline));
        const std::size_t count = TRY(stream.read_some(context_.dial.scratch, deadline));
        TRY(upstream.handle_bytes(io::now(), context_.dial.scratch.first(count)));
        while (auto event = upstream.poll_event()) {
            if (const auto* refused = std::get_if<Refused>(&*event))
                return Error(Errc::denied, refused->sentence);
            if (std::holds_alternative<Redirected>(*event))
                return Error(Errc::denied, "the origin redirects");
        }
    }
    return {};
}

}  // namespace live::service::relay
