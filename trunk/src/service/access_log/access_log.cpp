#include "service/access_log/access_log.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::access_log {

void AccessLog::open() {
    if (!is_on())
        return;
    if (writer_ != nullptr)
        return writer_->reopen();
    io::LineWriter::Options options;
    options.thread_name = "access-writer";
    options.path = path_;
    options.rotation = rotation_;
    if (auto opened = io::LineWriter::create(std::move(options)); opened.ok())
        writer_ = *std::move(opened);
    else
        LOG_WARN(log_, "the access log: {}; lines are lost until a SIGUSR1 reopens it", opened.error().sentence());
}

Result<void> AccessLog::start(io::Scope&, io::Deadline) {
    open();
    return {};
}

Result<void> AccessLog::stop(io::Deadline) {
    report();
    return {};
}

void AccessLog::report() {
    if (writer_ == nullptr)
        return;
    for (const std::string& remark : writer_->take_remarks())
        LOG_WARN(log_, "the access log {}: {}", path_, remark);
}

io::LineWriter::Counters AccessLog::counters() const {
    io::LineWriter::Counters counters = writer_ == nullptr ? io::LineWriter::Counters() : writer_->counters();
    counters.lost += lost_;
    return counters;
}

void AccessLog::add(const Visit& visit) {
    if (!is_on())
        return;
    if (writer_ == nullptr)
        ++lost_;
    else
        writer_->add(line_of(visit));
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
