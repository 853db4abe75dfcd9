// Arbitrary tcUrls: no answer passes that the challenge has not led to.
#include <chrono>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "engine/rtmp/publisher_auth.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using engine::rtmp::PublisherAuth;
    const std::string_view text = as_text(Bytes(data, size));
    const auto given = PublisherAuth::parse(text);
    CHECK(PublisherAuth::without_parameters(text).size() <= size);
    if (!given)
        return 0;
    CHECK(given->user.size() <= PublisherAuth::kValueBytesMax && given->response.size() <= PublisherAuth::kValueBytesMax);
    const PublisherAuth auth("secret");
    const auto passed =
        auth.verify(*given, "password", "10.0.0.7", std::chrono::sys_seconds(std::chrono::seconds(1'800'000'000)));
    CHECK(!passed.ok() || !*passed);
    return 0;
}
