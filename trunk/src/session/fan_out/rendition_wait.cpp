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

std::size_t present_renditions(const media::Source& source) {
    return static_cast<std::size_t>(std::ranges::count_if(source.tracks().all(), [](const media::Track& track) {
        return track.kind == MediaKind::video && track.rendition != media::RenditionId::none;
    }));
}

}  // namespace

bool request_rendition(const media::Source& source, std::string_view name) {
    if (!source.is_published() || has_rendition(source, name))
        return false;
    const media::Publications& publications = source.publications();
    if (auto* const maker = publications.rendition_maker(); maker != nullptr && maker->may_make(name)) {
        maker->want_renditions();
        return true;
    }
    return present_renditions(source) < publications.expected_renditions();
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
