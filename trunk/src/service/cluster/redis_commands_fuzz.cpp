// Any bytes from a registry, as replies to each command, are parsed or refused, within limits.
#include <array>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "engine/redis/reply.hpp"
#include "service/cluster/redis_commands.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    namespace cluster = engine::cluster;
    const std::array<cluster::Command, 5> commands = {
        cluster::Command{1, cluster::Beat{{"a", 7, "h"}, std::chrono::seconds(8)}},
        cluster::Command{2, cluster::Claim{"/live/cam", {"a", 7, 3, 5}, true, false}},
        cluster::Command{3, cluster::Withdraw{"/live/cam", {"a", 7, 3, 5}}},
        cluster::Command{4, cluster::StreamLookup{"/live/cam"}}, cluster::Command{5, cluster::ListNodes{}}};
    engine::redis::ReplyReader reader;
    if (!reader.feed({data, size}).ok())
        return 0;
    for (;;) {
        const auto next = reader.next();
        if (!next.ok() || !*next)
            return 0;
        for (const cluster::Command& command : commands) {
            const auto answer = service::cluster::answer_of(command, **next);
            // An answer of the command's kind, or a refusal.
            CHECK(answer.index() == command.what.index() || std::holds_alternative<cluster::Refusal>(answer));
            if (const auto* claimed = std::get_if<cluster::ClaimDone>(&answer))
                CHECK(claimed->epoch <= cluster::kNumberMax);
        }
        if (const auto page = service::cluster::parse_scan(**next); page.ok())
            for (const std::string& stream : page->streams)
                CHECK(cluster::is_good_stream(stream));
    }
}
