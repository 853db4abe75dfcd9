#include "session/common/protocol.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kUnknown{.name = "Unknown"};
constexpr ClientKindRow kinds::kRelayPull{.name = "relay-pull", .is_publisher = true};
constexpr ClientKindRow kinds::kEnginePublish{.name = "engine-publish", .is_publisher = true};

std::vector<std::string> addresses_of(std::string_view scheme, const std::vector<std::string>& listen) {
    std::vector<std::string> all;
    for (const std::string& text : listen)
        all.push_back(std::string(scheme) + (text.find(':') == std::string::npos ? "0.0.0.0:" : "") + text);
    return all;
}

Traffic traffic_of(const Protocols& protocols) {
    Traffic sum;
    for (const Protocol& protocol : protocols) {
        if (!protocol.traffic)
            continue;
        const Traffic traffic = protocol.traffic();
        sum.received_bytes += traffic.received_bytes;
        sum.sent_bytes += traffic.sent_bytes;
    }
    return sum;
}

StreamUrls urls_of(const Protocols& protocols, const UrlRequest& request) {
    StreamUrls urls;
    for (const Protocol& protocol : protocols)
        if (protocol.add_urls)
            protocol.add_urls(request, urls);
    return urls;
}

void take_datagram(const Protocols& protocols, const ForwardedDatagram& forwarded, MutBytes datagram) {
    for (const Protocol& protocol : protocols)
        if (protocol.datagrams == forwarded.protocol && protocol.take_datagram)
            return protocol.take_datagram(forwarded, datagram);
}

}  // namespace live::session
