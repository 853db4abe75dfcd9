#include "session/fan_out/rendition_wait.hpp"

#include <algorithm>
#include <optional>

#include "io/fibers/loop.hpp"
#include "media/ring/rendition_names.hpp"

namespace live::session {

namespace {

bool has_rendition(const media::Source& source, std::string_view name) {
    return find_rendition(source.tracks().all(), source.tracks().default_of(MediaKind::video), name) != nullptr;
}

}  // namespace

bool request_rendition(const media::Source& source, std::string_view name) {
    const media::Publications& publications = source.publications();
    const auto& names = publications.rendition_names();
    if (!source.is_published() || std::ranges::find(names, name) == names.end() || has_rendition(source, name))
        return false;
    if (auto* const maker = publications.rendition_maker())
        maker->want_renditions();
    return true;
}

Result<void> wait_for_rendition(const Ref<media::Source>& source, std::string_view name, io::Deadline deadline) {
    const auto until = deadline.sooner(io::Deadline::after(kRenditionWait));
    Signal packets;
    std::optional<PacketWatch> watch;
    while (request_rendition(*source, name) && !until.expired()) {
        if (!watch)
            watch.emplace(*source, packets);
        const auto woken = io::wait(packets, until);
        if (!woken.ok() && woken.code() == Errc::cancelled)
            return woken;
    }
    return {};
}

}  // namespace live::session
