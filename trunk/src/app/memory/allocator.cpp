#include "app/memory/allocator.hpp"

#ifdef LIVE_GPERF

#include <string>

#include <gperftools/malloc_extension.h>

#include "base/log/log_format.hpp"

namespace live::app {

namespace {

class GperfAllocator final : public api::Allocator {
public:
    std::size_t property(const char* name) const override {
        std::size_t value = 0;
        return MallocExtension::instance()->GetNumericProperty(name, &value) ? value : 0;
    }
    double release_rate() const override { return MallocExtension::instance()->GetMemoryReleaseRate(); }
    std::string summary() const override {
        constexpr int kTextBytes = 32 * 1024;
        std::string text(kTextBytes, '\0');
        MallocExtension::instance()->GetStats(text.data(), kTextBytes);
        text.resize(text.find('\0'));
        return text;
    }
};

}  // namespace

std::unique_ptr<api::Allocator> make_allocator_figures(double release_rate, const Log& log) {
    const double before = MallocExtension::instance()->GetMemoryReleaseRate();
    MallocExtension::instance()->SetMemoryReleaseRate(release_rate);
    LOG_INFO(log, "tcmalloc: set release-rate {:.2f}=>{:.2f}", before, MallocExtension::instance()->GetMemoryReleaseRate());
    return std::make_unique<GperfAllocator>();
}

}  // namespace live::app

#else

namespace live::app {

std::unique_ptr<api::Allocator> make_allocator_figures(double, const Log&) { return nullptr; }

}  // namespace live::app

#endif
