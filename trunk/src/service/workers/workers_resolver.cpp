#include "service/workers/workers_resolver.hpp"

namespace live::service::workers {

relay::Location WorkersResolver::find(const std::string& url, const relay::ClusterOptions& options, io::Deadline deadline) {
    if (!service_.is_on() || options.mode != relay::ClusterMode::local)
        return next_.find(url, options, deadline);
    const auto where = service_.find(url, deadline);
    const bool is_worker = service_.identity().is_worker();
    if (!is_worker && (!where.ok() || !*where))
        return next_.find(url, options, deadline);
    if (!where.ok())
        return relay::Unknown{where.error().sentence(), kRetry};
    if (!*where)
        return relay::Nowhere{"no worker has the stream"};
    return relay::Located{{relay::worker_origin((*where)->worker)}, (*where)->epoch};
}

}  // namespace live::service::workers
