// Any text in a registry is refused, or is a record that survives a round trip.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "engine/cluster/records.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::engine::cluster;
    const std::string_view text = live::as_text({data, size});
    if (const auto node = parse_node("n", text); node.ok()) {
        CHECK(text.size() <= kRecordBytesMax && !node->host.empty());
        CHECK(MUST(parse_node("n", text_of(*node))) == *node);
    }
    if (const auto own = parse_own(text); own.ok()) {
        CHECK(is_good_id(own->node) && own->epoch <= kNumberMax);
        CHECK(MUST(parse_own(text_of(*own))) == *own);
    }
    if (const auto event = parse_event(text); event.ok())
        CHECK(MUST(parse_event(text_of(*event))) == *event);
    return 0;
}
