// EventCounts: the timed events of all streams of one output, by kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/metrics_text.hpp"
#include "media/ring/timed_event.hpp"

namespace live::service::files {

struct EventCounts {
    struct Kind {
        std::uint64_t accepted = 0;
        std::uint64_t dropped = 0;  // at a limit of their stream
    };
    std::array<Kind, media::TimedEvent::kKinds> kinds;

    Kind& of(media::TimedEvent::Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }
    void write_metrics(MetricsText& text, std::string_view family, std::string_view help) const {
        text.family(family, MetricsText::Type::counter, help);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const std::string kind(name_of(static_cast<media::TimedEvent::Kind>(i)));
            text.sample(kinds[i].accepted, {{"kind", kind}, {"result", "accepted"}});
            text.sample(kinds[i].dropped, {{"kind", kind}, {"result", "dropped"}});
        }
    }
};

}  // namespace live::service::files
