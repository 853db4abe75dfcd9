#include "service/hls/files/disk.hpp"

#include <memory>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::hls {

void Disk::write(const std::string& path, std::vector<Block> blocks, Written written, Failed failed) {
    queue_.write(path, std::move(blocks),
                 [this, written = std::move(written), failed = std::move(failed)](const Result<void>& done) {
                     if (done.ok()) {
                         if (written)
                             written();
                         return;
                     }
                     if (failed)
                         failed();
                     fail(done.error());
                 });
}

void Disk::write_list(const std::string& path, std::string_view text) {
    queue_.write_list(path, std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()),
                      [this](const Result<void>& done) {
                          if (!done.ok())
                              fail(done.error());
                      });
}

void Disk::remove_and_wait(std::vector<std::string> paths, io::Deadline deadline) {
    // Two owners: the wait may be cancelled before the queue has finished.
    const auto removed = std::make_shared<Signal>();
    queue_.remove(std::move(paths), [this, removed](const Result<void>& done) {
        if (!done.ok())
            LOG_WARN(log_, "HLS {}: {}", feed_.url(), done.error().text());
        removed->raise();
    });
    static_cast<void>(io::wait(*removed, deadline));
}

void Disk::fail(const Error& error) {
    const auto now = io::now();
    if (complained_at_ == TimePoint{} || now - complained_at_ >= kComplaintInterval) {
        complained_at_ = now;
        LOG_ERROR(log_, "HLS {}: {} (3004)", feed_.url(), error.text());
    }
    switch (options_.on_error) {
        case OnError::carry_on: return;
        case OnError::disconnect:
            if (feed_.is_published()) {
                LOG_ERROR(log_, "HLS {}: the publisher is disconnected (hls_on_error)", feed_.url());
                feed_.source().publications().evict();
            }
            return;
        case OnError::ignore: break;
    }
    if (feed_.is_published() && !std::exchange(is_ignoring_, true)) {
        LOG_ERROR(log_, "HLS {}: disabled until the next publisher (hls_on_error)", feed_.url());
        feed_.wake();
    }
}

}  // namespace live::service::hls
