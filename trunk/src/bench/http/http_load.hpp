// Downloads one URL; the data is counted and discarded.
#pragma once

#include <optional>

#include "bench/http/http_fetch.hpp"
#include "bench/load/load_client.hpp"

namespace live::bench {

class HttpLoad final : public LoadTask {
public:
    // Errors of HttpFetch::get.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;

private:
    std::optional<HttpFetch> fetch_;
};

}  // namespace live::bench
