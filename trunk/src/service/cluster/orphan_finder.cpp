#include "service/cluster/orphan_finder.hpp"

#include "io/fibers/loop.hpp"

namespace live::service::cluster {

namespace {

// Players of a slate need the stream, too.
bool is_orphan_source(const media::Source& source) {
    return source.publications().owner() == nullptr && source.readers().is_watched();
}

}  // namespace

bool OrphanFinder::is_orphan(const std::string& url) const {
    const auto source = streams_.find(url);
    return source && is_orphan_source(*source);
}

void OrphanFinder::note(const std::string& url) {
    if (noted_.size() >= kOrphansMax || !is_orphan(url))
        return;
    noted_.insert(url);
    any_.raise();
}

void OrphanFinder::note_all(TimePoint now) {
    if (now - noted_all_at_ < kPeriod)
        return;
    noted_all_at_ = now;
    streams_.for_each([this](media::Source& source) {
        if (is_orphan_source(source) && noted_.size() < kOrphansMax)
            noted_.insert(source.url());
    });
    any_.raise();
}

Result<std::string> OrphanFinder::next(io::Deadline deadline) {
    while (noted_.empty())
        TRY(io::wait(any_, deadline));
    return std::move(noted_.extract(noted_.begin()).value());
}

}  // namespace live::service::cluster
