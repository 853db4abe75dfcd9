// Pushes a stream to a destination and, when that asks for it, on to another one without a gap: the new connection publishes,
// then the old one ends.
#pragma once

#include <functional>
#include <string>

#include "service/forward/push_session.hpp"

namespace live::service::forward {

// For a new connection; the stream waits for it meanwhile.
inline constexpr std::chrono::seconds kSpliceLimit{5};

// Where the stream goes on, by what the destination said; see moved_destination().
using NextDestination = std::function<Result<Destination>(const Destination& from, const std::string& tc_url)>;

// Runs until something ends it, with the error of the last connection; see PushSession::run(). Where the new connection fails,
// the stream stays on the old one; where the other server has the stream as long as the old one lasts, that ends first.
Result<void> push_and_splice(Destination destination, const NextDestination& next, const ForwardContext& context, const Log& log,
                             const Ref<media::Source>& source, media::Cursor::Audience audience, io::Deadline deadline,
                             PushProgress* progress = nullptr);

}  // namespace live::service::forward
