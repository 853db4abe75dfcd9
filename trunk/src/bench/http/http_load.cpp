#include "bench/http/http_load.hpp"

namespace live::bench {
namespace {

class Counter final : public BodySink {
public:
    explicit Counter(ClientMeter& meter) : meter_(meter) {}
    Result<void> on_body(TimePoint now, Bytes) override {
        meter_.on_first_frame(now);
        return {};
    }

private:
    ClientMeter& meter_;
};

}  // namespace

Result<void> HttpLoad::run(LoadClient& client, io::Deadline deadline) {
    if (!fetch_)
        fetch_.emplace(client);
    Counter counter(client.meter);
    return fetch_->get(client.url, {}, counter, deadline);
}

}  // namespace live::bench
