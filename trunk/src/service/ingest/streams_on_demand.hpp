// StreamsOnDemand: streams that this server fetches by itself for their viewers.
#pragma once

#include <string>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/admission.hpp"

namespace live::service::ingest {

class StreamsOnDemand {
public:
    // Whether the source's stream is one of them. Must not suspend.
    virtual bool has(const std::string& url) const = 0;
    // Begins to fetch the stream of `plan`, unless it is fetched or published already, and returns when it has media.
    // Errc::not_found when it cannot be fetched; the sentence is the reason.
    virtual Result<void> fetch(const session::StreamPlan& plan, io::Deadline deadline) = 0;

protected:
    ~StreamsOnDemand() = default;
};

}  // namespace live::service::ingest
