// The endpoints about virtual hosts, streams and clients: the whole list page by page, one by its id, and DELETE of a client.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "api/common/endpoints.hpp"
#include "api/common/page.hpp"
#include "api/common/rows.hpp"
#include "api/common/server_info.hpp"
#include "service/forward/forward_service.hpp"
#include "service/relay/relay_service.hpp"
#include "service/stats/stream_stats.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// A virtual host's settings. app implements it. Must not suspend.
class VhostSettings {
public:
    struct Shown {
        bool enabled = false;
        // Length of a fragment, when HLS is on.
        std::optional<std::chrono::milliseconds> hls_fragment;
    };

    virtual ~VhostSettings() = default;
    // Not enabled when no virtual host has that name.
    virtual Shown find(const std::string& name) const = 0;
};

// Base of the three: GET of the list, GET and DELETE of one entry.
class ListHandler : public session::http::Handler {
public:
    // Entries written without yielding to other fibers.
    static constexpr std::size_t kPortion = 100;

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) final;

protected:
    // `folder` is the path of its row in the table.
    ListHandler(const ServerInfo& server, std::string_view folder) : server_(server), route_(*find_route(folder)) {}

    struct Missing {
        int code;
        std::string_view sentence;
    };
    virtual Missing missing() const = 0;
    // Adds the entries of a page, and returns the number of all entries; of those of one stream, if the endpoint selects by it
    // and `stream` is not empty. An error of the deadline ends the request.
    virtual Result<std::size_t> list(const Page& page, std::string_view stream, ListAnswer& answer,
                                     io::Deadline deadline) const = 0;
    // nullopt when the entry does not exist.
    virtual std::optional<Row> one(const std::string& id) const = 0;
    // False when the entry does not exist. Called only if the row has DELETE.
    virtual bool remove(const std::string& id) const;

private:
    const ServerInfo& server_;
    const Route& route_;
};

class VhostsHandler final : public ListHandler {
public:
    VhostsHandler(const ServerInfo& server, const service::stats::StreamStats& stream_stats, const VhostSettings& settings)
        : ListHandler(server, "/api/v1/vhosts/"), stream_stats_(stream_stats), settings_(settings) {}

private:
    Missing missing() const override;
    Result<std::size_t> list(const Page& page, std::string_view stream, ListAnswer& answer, io::Deadline deadline) const override;
    std::optional<Row> one(const std::string& id) const override;

    const service::stats::StreamStats& stream_stats_;
    const VhostSettings& settings_;
};

class StreamsHandler final : public ListHandler {
public:
    StreamsHandler(const ServerInfo& server, const service::stats::StreamStats& stream_stats,
                   const service::relay::RelayService* relay, const service::forward::ForwardService* forwards)
        : ListHandler(server, "/api/v1/streams/"), stream_stats_(stream_stats), relay_(relay), forwards_(forwards) {}

private:
    Missing missing() const override;
    Result<std::size_t> list(const Page& page, std::string_view stream, ListAnswer& answer, io::Deadline deadline) const override;
    std::optional<Row> one(const std::string& id) const override;

    const service::stats::StreamStats& stream_stats_;
    const service::relay::RelayService* relay_;
    const service::forward::ForwardService* forwards_;
};

class ClientsHandler final : public ListHandler {
public:
    ClientsHandler(const ServerInfo& server, const service::stats::StreamStats& stream_stats)
        : ListHandler(server, "/api/v1/clients/"), stream_stats_(stream_stats) {}

private:
    Missing missing() const override;
    Result<std::size_t> list(const Page& page, std::string_view stream, ListAnswer& answer, io::Deadline deadline) const override;
    std::optional<Row> one(const std::string& id) const override;
    bool remove(const std::string& id) const override;

    const service::stats::StreamStats& stream_stats_;
};

// Adds all three. Both pointers may be null: without `relay` all streams are published here, without `forwards` none is
// forwarded.
void add_stats(Endpoints& endpoints, const service::stats::StreamStats& stream_stats, const VhostSettings& settings,
               const service::relay::RelayService* relay = nullptr, const service::forward::ForwardService* forwards = nullptr);

}  // namespace live::api
