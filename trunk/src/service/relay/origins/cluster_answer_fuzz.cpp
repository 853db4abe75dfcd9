// Any answer about a stream is refused, or is an address that can be dialled and written into a URL.
#include "base/bytes/bytes.hpp"
#include "base/net/host_and_port.hpp"
#include "service/relay/origins/cluster_answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto answer = service::relay::parse_cluster_answer(200, as_text({data, size}));
    if (!answer.ok() || !*answer)
        return 0;
    const session::Redirect& to = **answer;
    for (const std::string* place : {&to.rtmp, &to.http, &to.api}) {
        const auto parsed = parse_host(*place);
        CHECK((place->empty() && place != &to.rtmp) || (parsed.ok() && parsed->port));
    }
    return 0;
}
