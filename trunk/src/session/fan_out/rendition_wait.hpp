// Renditions by name: a player may name a rendition that the stream does not have yet, because it is made on demand or its ladder
// has just begun. It requests the rendition and waits.
#pragma once

#include <chrono>
#include <string_view>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/source.hpp"

namespace live::session {

// A ladder starts at a key frame of the stream, and its encoders take a second or two.
inline constexpr std::chrono::seconds kRenditionWait{15};

// Raises a signal for each batch of packets of the stream while it lives.
class PacketWatch final : public media::PacketListener {
public:
    PacketWatch(media::Source& source, Signal& signal) : source_(source), signal_(signal) {
        source_.readers().add_listener(*this);
    }
    ~PacketWatch() { source_.readers().remove_listener(*this); }
    PacketWatch(const PacketWatch&) = delete;
    PacketWatch& operator=(const PacketWatch&) = delete;

private:
    void on_packets() override { signal_.raise(); }

    media::Source& source_;
    Signal& signal_;
};

// Reports whether a published stream lacks the video track of this name and may get it soon. Requests renditions that are made on
// demand; call it again while the player waits.
bool request_rendition(const media::Source& source, std::string_view name);

// Waits until the stream has the rendition, cannot get it, or kRenditionWait has passed. Errc::cancelled.
Result<void> wait_for_rendition(const Ref<media::Source>& source, std::string_view name, io::Deadline deadline);

}  // namespace live::session
