#include "media/ingest/rendition.hpp"

#include <algorithm>
#include <string>

#include "media/ring/tag_packet.hpp"
#include "wire/codec/decoder_config.hpp"
#include "wire/flv/codec.hpp"

namespace live::media {

Result<std::unique_ptr<Rendition>> Rendition::start(Ref<Source> source, std::vector<TrackName> tracks) {
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
        if (static_cast<std::size_t>(std::ranges::count(tracks, kind, &TrackName::kind)) > Tracks::kRenditionMax)
            return Error(Errc::limit, "more than " + std::to_string(Tracks::kRenditionMax) + " tracks of a kind in a rendition");
    auto started = std::make_unique<Rendition>(std::move(source), std::move(tracks));
    TRY(started->source_->publications().start_rendition(*started));
    return started;
}

Rendition::Rendition(Ref<Source> source, std::vector<TrackName> tracks)
    : RenditionPublisher(source->tracks()), source_(std::move(source)), declared_(std::move(tracks)) {}

Rendition::~Rendition() {
    source_->publications().end_rendition(*this);
    source_->announce_renditions();
}

const TrackId* Rendition::find_or_add(const Key& key) {
    if (const auto found = added_.find(key); found != added_.end())
        return &found->second;
    const auto is_it = [&key](const TrackName& name) { return name.kind == key.first && name.id == key.second; };
    const auto declared = std::ranges::find_if(declared_, is_it);
    if (declared == declared_.end())
        return nullptr;
    const auto id = source_->tracks().add_rendition_track(this->id(), *declared);
    if (id)
        source_->announce_renditions();
    return id ? &added_.emplace(key, *id).first->second : nullptr;
}

bool Rendition::takes_config(const Packet& packet) {
    if (!wire::codec::check_config(packet.codec, packet.frame()).ok()) {
        ++dropped_;
        return false;
    }
    const Packet* const known = source_->tracks().config_of(packet.kind, packet.track);
    return known == nullptr || known->codec != packet.codec || !std::ranges::equal(known->frame(), packet.frame());
}

std::optional<Packet> Rendition::packet_of(MediaKind kind, wire::codec::Frame frame) {
    if (!is_current())
        return std::nullopt;
    const Key key(kind, frame.track);
    // RTMP and FLV name the codec of further tracks by its FourCC.
    const TrackId* const id = wire::flv::fourcc_of(frame.codec) ? find_or_add(key) : nullptr;
    if (id == nullptr) {
        ++dropped_;
        return std::nullopt;
    }
    const Track* const track = source_->tracks().find(kind, *id);
    if (track == nullptr || track->rendition != this->id()) {
        source_->publications().end_rendition(*this);  // the publisher has taken the id
        return std::nullopt;
    }
    frame.track = *id;
    Packet packet = make_packet(kind, std::move(frame));
    return packet.is_config() && !takes_config(packet) ? std::nullopt : std::optional(std::move(packet));
}

void Rendition::push_frame(MediaKind kind, std::uint32_t stamp_ms, wire::codec::Frame frame) {
    const TrackId own = frame.track;
    auto packet = packet_of(kind, std::move(frame));
    if (!packet)
        return;
    packet->dts = clock_.map(kind, own, stamp_ms, source_->timeline().newest());
    source_->append(*std::move(packet), Source::Origin::rendition);
}

void Rendition::push_frame(MediaKind kind, wire::codec::Frame frame) {
    const MediaTime dts = frame.dts;
    auto packet = packet_of(kind, std::move(frame));
    if (!packet)
        return;
    packet->dts = dts;
    source_->append(*std::move(packet), Source::Origin::rendition);
}

}  // namespace live::media
