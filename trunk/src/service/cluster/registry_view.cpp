#include "service/cluster/registry_view.hpp"

#include "io/fibers/loop.hpp"
#include "service/cluster/redis_commands.hpp"

namespace live::service::cluster {

namespace {

// Adds a page and returns the cursor of the next one.
Result<std::string> read_page(ClusterService& service, const std::string& cursor, RegistryStreams& all, io::Deadline deadline) {
    const ScanPage page = TRY(parse_scan(TRY(service.call(scan_words(cursor), deadline))));
    if (page.streams.empty())
        return page.cursor;
    const auto owners = TRY(service.call(owner_words(page.streams), deadline));
    for (std::size_t i = 0; i < page.streams.size() && i < owners.items.size(); ++i)
        if (const auto own = engine::cluster::parse_own(owners.items[i].text);
            own.ok() && service.node()->believes(*own, page.streams[i], io::now()))
            all.streams.emplace_back(page.streams[i], *own);
    return page.cursor;
}

}  // namespace

RegistryStreams list_streams(ClusterService& service, io::Deadline deadline) {
    RegistryStreams all;
    std::string cursor = "0";
    while (all.streams.size() < RegistryStreams::kStreamsMax) {
        auto next = read_page(service, cursor, all, deadline);
        if (!next.ok())
            return all;
        cursor = *std::move(next);
        if (cursor == "0") {
            all.is_whole = true;
            return all;
        }
    }
    return all;
}

}  // namespace live::service::cluster
