#include "service/files/release.hpp"

#include <memory>
#include <utility>

#include "io/off_loop.hpp"

namespace live::service::files {

namespace {

class Release final : public io::Job {
public:
    explicit Release(std::vector<Block> blocks) : Job(io::Work::local), blocks_(std::move(blocks)) {}
    void run() override { blocks_.clear(); }

private:
    std::vector<Block> blocks_;
};

}  // namespace

void release(std::vector<Block> blocks) {
    if (!blocks.empty())
        static_cast<void>(io::start_job(std::make_shared<Release>(std::move(blocks))));
}

}  // namespace live::service::files
