// Arbitrary bytes as an offer. If negotiation succeeds, our own parser must read the answer and find the same values in it.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/sdp/answer.hpp"
#include "wire/sdp/description.hpp"

namespace {

using namespace live;
using namespace live::wire::sdp;

void check_answer(const Description& offer, const Terms& terms) {
    const auto agreement = negotiate(offer, terms);
    if (!agreement.ok())
        return;
    CHECK(!agreement->sections.empty() && agreement->sections.size() <= 2);
    const Local local{.product = "live",
                      .session_id = 1,
                      .session_name = "s",
                      .stream = "live/a",
                      .ufrag = "abcd1234",
                      .pwd = "abcdefghijklmnopqrstuvwxyz012345",
                      .fingerprint = agreement->remote_fingerprint.value,
                      .cname = "c",
                      .candidates = {{"192.0.2.1", 8000, false}},
                      .audio = {1, 2, "a"},
                      .video = {3, 4, "v"}};
    const std::string text = write_answer(offer, *agreement, local);
    // A word of the offer that fills a line may exceed the line limit in the answer.
    const auto answer = parse_description(text);
    CHECK(answer.ok() || answer.code() == Errc::limit || agreement->remote_fingerprint.algorithm != "sha-256");
    if (answer.ok())
        CHECK(answer->sections.size() == offer.sections.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto offer = parse_description(as_text(Bytes(data, size)));
    if (!offer.ok())
        return 0;
    CHECK(offer->sections.size() <= kSectionsMax);
    check_answer(*offer, {.repair = Repair::rtx});
    check_answer(*offer, {.purpose = Purpose::play, .audio = {"PCMU", "opus"}, .video = {"VP8", "H264", "AV1"}});
    return 0;
}
