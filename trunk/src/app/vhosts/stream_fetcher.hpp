// StreamFetcher: lets the API wait for streams of other nodes, for snapshots.
#pragma once

#include "api/streams/snapshot_handler.hpp"
#include "service/admission/admission_policies.hpp"

namespace live::app {

class StreamFetcher final : public api::StreamFetcher {
public:
    // `admission` must outlive this.
    explicit StreamFetcher(service::admission::AdmissionPolicies& admission) : admission_(admission) {}

    Result<void> fetch(const session::ClientRequest& request, io::Deadline deadline) override {
        return admission_.fetch(request, deadline);
    }

private:
    service::admission::AdmissionPolicies& admission_;
};

}  // namespace live::app
