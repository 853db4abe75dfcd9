// Any bytes as an answer, and as a payload with a stamp: no abort, and a parsed result is usable.
#include <cstdlib>

#include "base/bytes/bytes.hpp"
#include "bench/measure/delay_stamp.hpp"
#include "bench/rtc/rtc_offer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::bench;
    using live::wire::sdp::Purpose;
    const live::Bytes input(data, size);
    for (const Purpose purpose : {Purpose::play, Purpose::publish}) {
        const auto answer = read_answer(live::as_text(input), purpose);
        if (answer.ok() && (answer->agreement.sections.empty() || answer->port == 0 || answer->host.empty()))
            std::abort();
    }
    if (const auto stamp = find_packet_stamp(input); stamp && stamp->count() < 0)
        std::abort();
    return 0;
}
