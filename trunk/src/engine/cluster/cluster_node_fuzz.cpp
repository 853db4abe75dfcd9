// Any registry: each line of the input is its next answer, or an event. The node never waits forever, sends a bounded number of
// commands, and keeps its stream unless a claim is refused.
#include <algorithm>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "engine/cluster/cluster_node.hpp"

namespace {

using namespace live::engine::cluster;

Answer made_of(const Command& command, std::string_view line) {
    const std::size_t cut = std::min(line.find(' '), line.size());
    const std::string first(line.substr(0, cut));
    const std::string second(line.substr(std::min(cut + 1, line.size())));
    if (first.starts_with('!'))
        return Refusal{second};
    switch (command.what.index()) {
        case 0: return BeatDone{first.size() % 2 == 0};
        case 1: return ClaimDone{first.size() % 2 == 0, first.size() * 4'503'599'627'370'496, second};
        case 2: return WithdrawDone{};
        case 3: return StreamLookupDone{first, second};
        default: return NodesDone{{{first, second}, {second, first}}};
    }
}

void ask_registry(std::string_view rest, const std::string& secret) {
    live::TimePoint now{std::chrono::hours(1)};
    NodeRecord self;
    self.id = "me";
    self.run = 1;
    self.host = "192.0.2.1";
    ClusterNodeOptions options;
    options.secret = secret;
    ClusterNode cluster_node(options, self, 1);
    cluster_node.handle_connected(now);
    cluster_node.publish("/live/mine", false, 0, now);
    std::size_t asked = 0, told = 0, sent = 0;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        cluster_node.handle_event(line, now);
        cluster_node.find("/live/" + std::string(line.substr(0, 1)), now);
        ++asked;
        while (auto command = cluster_node.poll_command()) {
            CHECK(++sent < 1'000'000);
            if (!line.starts_with('?'))
                cluster_node.handle_answer(command->id, made_of(*command, line), now);
        }
        now += std::chrono::milliseconds(50);
        cluster_node.handle_timeout(now);
        while (auto notice = cluster_node.poll_notice())
            told += std::holds_alternative<FindDecided>(*notice) ? 1 : 0;
    }
    cluster_node.handle_timeout(now + ClusterNode::kWaitMax);
    while (auto notice = cluster_node.poll_notice())
        told += std::holds_alternative<FindDecided>(*notice) ? 1 : 0;
    CHECK(asked == told);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = live::as_text({data, size});
    ask_registry(text, "");
    ask_registry(text, "hush");
    return 0;
}
