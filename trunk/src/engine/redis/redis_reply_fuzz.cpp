// Any bytes of a server, in any pieces: the first byte is the length of a piece. A reply that is read has a bounded number of
// values.
#include "base/check.hpp"
#include "engine/redis/reply.hpp"

namespace {

std::size_t count_of(const live::engine::redis::Reply& reply) {
    std::size_t count = 1;
    for (const auto& item : reply.items)
        count += count_of(item);
    return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using live::engine::redis::ReplyReader;
    if (size == 0)
        return 0;
    const std::size_t piece = std::size_t{data[0]} + 1;
    ReplyReader reader;
    for (live::Bytes rest(data + 1, size - 1); !rest.empty(); rest = rest.subspan(std::min(piece, rest.size()))) {
        if (!reader.feed(rest.first(std::min(piece, rest.size()))).ok())
            return 0;
        for (;;) {
            const auto reply = reader.next();
            if (!reply.ok())
                return 0;
            if (!*reply)
                break;
            CHECK(count_of(**reply) <= ReplyReader::kValuesMax + 1);
        }
    }
    return 0;
}
