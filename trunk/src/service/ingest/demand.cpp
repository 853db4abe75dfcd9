#include "service/ingest/demand.hpp"

#include "io/fibers/loop.hpp"
#include "media/ring/ring.hpp"

namespace live::service::ingest {

namespace {

// Wakes a client when the stream has media.
class FirstPacket final : public media::PacketListener {
public:
    FirstPacket(Ref<media::Source> source, Signal& signal) : source_(std::move(source)), signal_(signal) {
        source_->readers().add_listener(*this);
    }
    ~FirstPacket() { source_->readers().remove_listener(*this); }
    FirstPacket(const FirstPacket&) = delete;
    FirstPacket& operator=(const FirstPacket&) = delete;

private:
    void on_packets() override { signal_.raise(); }

    Ref<media::Source> source_;
    Signal& signal_;
};

bool has_media(const media::Source& source) {
    const media::Tracks& tracks = source.tracks();
    return source.is_published() && (tracks.has_default(MediaKind::video) || tracks.has_default(MediaKind::audio));
}

}  // namespace

Result<void> wait_for_media(const Ref<media::Source>& source, Demand& demand, io::Deadline deadline) {
    demand.note(io::now());
    if (has_media(*source))
        return {};
    Signal signal;
    const FirstPacket first(source, signal);
    const std::uint64_t failures = demand.failures();
    demand.add(signal);
    Result<void> waited;
    while (waited.ok() && !has_media(*source) && demand.failures() == failures)
        waited = io::wait(signal, deadline);
    demand.remove(signal);
    if (!waited.ok() && waited.code() == Errc::cancelled)
        return waited;
    if (has_media(*source))
        return {};
    return Error(Errc::not_found, waited.ok() ? "the stream cannot be pulled: " + demand.last_error()
                                              : std::string("the stream has not arrived in time"));
}

}  // namespace live::service::ingest
