#include "app/start/conf_watch.hpp"

#include <csignal>
#include <filesystem>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::app {

ConfWatch::ConfWatch(const std::string& conf_file, Log log) : log_(std::move(log)), conf_file_(conf_file) {
    if (conf_file_.empty())
        return;
    const std::filesystem::path path(conf_file_);
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    auto watch = io::FolderWatch::open(folder, {path.filename().string(), "..data"});
    if (!watch.ok()) {
        LOG_WARN(log_, "inotify_auto_reload does not work: {}", watch.error().sentence());
        return;
    }
    folder_ = *std::move(watch);
    const auto started = fiber_.start("conf watch", [this](io::Deadline forever) { run(forever); });
    if (started.ok())
        LOG_INFO(log_, "inotify_auto_reload: watching {}", conf_file_);
    else
        LOG_WARN(log_, "inotify_auto_reload does not work: {}", started.error().sentence());
}

ConfWatch::~ConfWatch() { static_cast<void>(fiber_.stop(io::Deadline::never())); }

void ConfWatch::note_reload() { reloaded_at_ = io::now(); }

void ConfWatch::run(io::Deadline deadline) {
    for (;;) {
        auto waited = folder_->wait(deadline);
        TimePoint changed_at = io::now();
        while (waited.ok()) {
            waited = folder_->wait(deadline.sooner(io::Deadline::after(kSettle)));
            if (waited.ok())
                changed_at = io::now();
        }
        if (waited.code() == Errc::cancelled)
            return;
        if (waited.code() != Errc::timed_out) {
            LOG_WARN(log_, "inotify_auto_reload ends: {}", waited.error().sentence());
            return;
        }
        if (reloaded_at_ >= changed_at)
            continue;
        LOG_INFO(log_, "{} has changed", conf_file_);
        std::raise(SIGHUP);
        if (!io::sleep(deadline.sooner(io::Deadline::after(kPause))).ok())
            return;
    }
}

}  // namespace live::app
