// Any text as a list of renditions: it is refused, or the written list reads back as the same.
#include "base/check.hpp"
#include "media/ring/rendition_names.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto list = media::read_rendition_list(as_text(Bytes(data, size)));
    if (!list.ok())
        return 0;
    CHECK(list->entries.size() <= media::RenditionList::kMax);
    const auto again = media::read_rendition_list(media::write_rendition_list(*list));
    CHECK(again.ok() && *again == *list);
    return 0;
}
