#include "service/access_log/access_log.hpp"

#include <algorithm>

#include "base/log_format.hpp"
#include "io/loop.hpp"

namespace live::service::access_log {

void AccessLog::open() {
    if (!is_on())
        return;
    flush();
    // What the old file did not take may be in the middle of a line: nothing for the beginning of a new one.
    lost_ += static_cast<std::uint64_t>(std::ranges::count(waiting_, '\n'));
    waiting_.clear();
    if (const auto opened = file_.open(path_); !opened.ok()) {
        LOG_WARN(log_, "the access log: {}; {} until SIGUSR1 finds it", opened.error().sentence(),
                 file_.is_open() ? "the old file goes on" : "its lines are lost");
        return;
    }
    is_failing_ = false;
}

void AccessLog::flush() {
    if (waiting_.empty())
        return;
    std::string_view rest = waiting_;
    const auto written = file_.write(rest);
    waiting_.erase(0, waiting_.size() - rest.size());
    if (!written.ok() && !is_failing_)
        LOG_WARN(log_, "the access log {} takes nothing, and what does not fit into memory is lost: {}", path_,
                 written.error().sentence());
    if (written.ok() && is_failing_)
        LOG_INFO(log_, "the access log {} goes on, {} lines are lost", path_, lost_);
    is_failing_ = !written.ok();
}

void AccessLog::add(const Visit& visit) {
    if (!is_on())
        return;
    const std::string line = line_of(visit);
    if (!file_.is_open() || waiting_.size() + line.size() > kWaitingBytesMax) {
        ++lost_;
        return;
    }
    waiting_ += line;
    if (waiting_.size() >= kBatchBytes && !is_failing_)
        flush();
}

void AccessLog::on_left(session::ClientEntry& entry, const session::SessionEnd& end) {
    using std::chrono::milliseconds;
    add({std::chrono::system_clock::now(), entry.client().request(), entry.plan()->vhost,
         std::chrono::duration_cast<milliseconds>(io::now() - entry.since()), entry.figures(),
         end.failed ? Outcome::failed : Outcome::ended, end.why});
}

void AccessLog::on_refused(const session::ClientEntry& entry, const Error& error) {
    const session::ClientRequest& request = entry.client().request();
    add({std::chrono::system_clock::now(), request, vhosts_.serving(request.vhost), {}, {}, Outcome::refused, error.sentence()});
}

}  // namespace live::service::access_log
