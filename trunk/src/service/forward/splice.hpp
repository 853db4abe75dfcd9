// Pushes a stream to a destination. On a reconnect request it continues at another one without a gap: the new connection
// publishes, then the old one ends.
#pragma once

#include <functional>
#include <string>

#include "service/forward/push_session.hpp"

namespace live::service::forward {

// The time limit of a new connection. The stream waits for it.
inline constexpr std::chrono::seconds kSpliceLimit{5};

// Returns the next destination for the target of a reconnect request; see moved_destination().
using NextDestination = std::function<Result<Destination>(const Destination& from, const std::string& tc_url)>;

// Runs until the push ends, and returns the error of the last connection; see PushSession::run(). If the new connection fails,
// the stream stays on the old one. If the other server refuses the stream because the old connection still publishes it, the old
// one ends first.
Result<void> push_and_splice(Destination destination, const NextDestination& next, const ForwardContext& context, const Log& log,
                             const Ref<media::Source>& source, media::Cursor::Audience audience, io::Deadline deadline,
                             PushProgress* progress = nullptr);

}  // namespace live::service::forward
