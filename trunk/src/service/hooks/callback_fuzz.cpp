// Any status and body as a callback's response: never a crash, and never a success without a zero in the body.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/hooks/callback.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view body = as_text(Bytes(data, size));
    const auto checked = service::hooks::check_answer(200, body);
    if (checked.ok())
        CHECK(body == "0" || (body.find("code") != std::string_view::npos) || body.find('\\') != std::string_view::npos);
    else
        CHECK(checked.error().sentence().size() < 2 * service::hooks::kReasonBytesMax);
    CHECK(!service::hooks::check_answer(404, body).ok());
    if (const auto granted = service::hooks::granted_by(200, body); granted.ok() && granted->srt_passphrase)
        CHECK(granted->srt_passphrase->empty() ||
              (granted->srt_passphrase->size() >= 10 && granted->srt_passphrase->size() <= 79));
    const auto urls = service::hooks::forward_urls_of(200, body);
    if (urls.ok())
        CHECK(checked.ok() && urls->size() <= service::hooks::kForwardUrlsMax);
    return 0;
}
