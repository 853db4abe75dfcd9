#include "bench/rtc/rtc_load.hpp"

#include <memory>

#include "bench/rtc/rtc_layer_publisher.hpp"
#include "bench/rtc/rtc_player.hpp"
#include "bench/rtc/rtc_publisher.hpp"

namespace live::bench {

Result<void> RtcLoad::run(LoadClient& client, io::Deadline deadline) {
    // Not on the fiber's stack: a client holds its stack's pages.
    if (!client.context.options.layers.empty())
        return std::make_unique<RtcLayerPublisher>(client, shared_)->run(deadline);
    if (publishes(client.context.tool, client.context.options))
        return std::make_unique<RtcPublisher>(client, shared_)->run(deadline);
    return std::make_unique<RtcPlayer>(client, shared_)->run(deadline);
}

}  // namespace live::bench
