// Any text as the page URL that a client sends. A host that is found contains no byte that ends one.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "service/access/refer.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view page = as_text(Bytes(data, size));
    const std::string_view host = service::access::host_of_page(page);
    CHECK(host.find_first_of("/?#\\@") == std::string_view::npos);
    CHECK(host.empty() || (host.data() >= page.data() && host.data() + host.size() <= page.data() + page.size()));
    const std::string name(host);
    const auto checked = service::access::check_refer(std::span(&name, 1), page);
    CHECK(checked.ok() == !host.empty());
    return 0;
}
