#include "service/dvr/recording.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "media/ring/tag_packet.hpp"
#include "media/ring/timed_event.hpp"
#include "wire/flv/file_writer.hpp"
#include "wire/mp4/event_message.hpp"
#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/movie_header.hpp"
#include "wire/mp4/movie_writer.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::service::dvr {

namespace {

namespace flv = wire::flv;
namespace mp4 = wire::mp4;

// Few streams: indexed by position.
template <class T>
std::optional<T>& at_place(std::vector<std::optional<T>>& all, std::size_t place) {
    if (all.size() <= place)
        all.resize(place + 1);
    return all[place];
}

Error needs_new_file(std::string why) { return {Errc::conflict, std::move(why)}; }

class FlvRecording final : public Recording {
public:
    FlvRecording(Bytes metadata, std::string_view product) : writer_(metadata, product, pending_) {}

    Result<void> push(const media::Packet& packet, MediaTime time) override {
        constexpr std::size_t kBodyBytesMax = (1U << 24) - 1;
        const flv::BodyHeader body_header = media::body_header_of(packet);
        if (body_header.size() + packet.payload.size() > kBodyBytesMax)
            return Error(Errc::limit, "a packet of more bytes than a tag can have");
        const auto ms = static_cast<std::uint32_t>(std::max<std::int64_t>(media::to_ms(time), 0));
        const bool is_key = packet.kind == MediaKind::video && packet.key && !packet.extra;
        writer_.write(type_of(packet.kind), ms, packet.payload.bytes(),
                      is_key ? flv::FileWriter::Index::yes : flv::FileWriter::Index::no, pending_, body_header.view());
        has_media_ = has_media_ || (packet.kind != MediaKind::data && !packet.is_config());
        if (const auto event = media::read_timed_event(packet))
            count_event(event->kind, Kept::yes);
        return {};
    }
    std::size_t pending_bytes() const override { return pending_.size(); }
    void take(ByteWriter& out, Last) override { out.bytes(pending_.release()); }
    void truncate_at(std::uint64_t bytes) override { writer_.forget_behind(bytes); }
    io::OutputFile::Ending finish() const override { return {.tail = {}, .patch = writer_.finish()}; }
    bool has_media() const override { return has_media_; }

private:
    static flv::TagType type_of(MediaKind kind) {
        switch (kind) {
            case MediaKind::audio: return flv::TagType::audio;
            case MediaKind::video: return flv::TagType::video;
            case MediaKind::data: break;
        }
        return flv::TagType::script;
    }

    ByteWriter pending_;
    flv::FileWriter writer_;
    bool has_media_ = false;
};

// Common to both kinds of MP4: turns packets into samples of tracks.
class Mp4Recording : public Recording {
public:
    Result<void> push(const media::Packet& packet, MediaTime time) final {
        if (packet.kind == MediaKind::data) {
            if (const auto event = media::read_timed_event(packet))
                count_event(event->kind, push_event(*event, time + event->at - packet.dts));
            return {};
        }
        const std::size_t stream = TRY(stream_of(packet));
        mp4::SampleReader& reader = streams_[stream].reader;
        const bool is_video = packet.kind == MediaKind::video;
        wire::codec::Frame frame = frame_of(packet);
        frame.dts = time;
        auto sample = TRY(is_video ? reader.push_video(frame) : reader.push_audio(frame));
        const auto& format = is_video ? reader.video() : reader.audio();
        if (!sample || !format)
            return {};
        TRY(push_sample(stream, *format, *std::move(sample)));
        has_media_ = true;
        return {};
    }
    bool has_media() const final { return has_media_; }

protected:
    // By stream index, which determines its order in the file.
    virtual Result<void> push_sample(std::size_t stream, const mp4::TrackFormat& format, mp4::Sample sample) = 0;
    // An event of the stream, at a time of presentation since the beginning of the file.
    virtual Kept push_event(const media::TimedEvent& event, MediaTime at) = 0;
    // Default tracks first, for players that take the first one, and video before audio.
    std::vector<std::size_t> in_order() const {
        std::vector<std::size_t> places(streams_.size());
        std::iota(places.begin(), places.end(), std::size_t{0});
        std::ranges::stable_sort(places, {}, [this](std::size_t at) {
            return std::tuple(streams_[at].extra.has_value(), streams_[at].kind != MediaKind::video, streams_[at].extra);
        });
        return places;
    }

private:
    // Another publisher's default track continues the same one, whatever its id.
    struct Stream {
        MediaKind kind;
        std::optional<media::TrackId> extra;  // for a non-default track
        mp4::SampleReader reader;
    };

    Result<std::size_t> stream_of(const media::Packet& packet) {
        const auto extra = packet.extra ? std::optional(packet.track) : std::nullopt;
        for (std::size_t i = 0; i < streams_.size(); ++i)
            if (streams_[i].kind == packet.kind && streams_[i].extra == extra)
                return i;
        if (streams_.size() == mp4::MovieWriter::kTracksMax)
            return Error(Errc::limit, "more tracks than a file has");
        streams_.push_back({packet.kind, extra, {}});
        return streams_.size() - 1;
    }

    std::vector<Stream> streams_;
    bool has_media_ = false;
};

class MovieRecording final : public Mp4Recording {
public:
    MovieRecording() { writer_.begin(beginning_); }

    std::size_t pending_bytes() const override { return writer_.held_bytes(); }
    void take(ByteWriter& out, Last) override {
        out.bytes(beginning_.release());
        writer_.flush(out);
    }
    void truncate_at(std::uint64_t bytes) override { writer_.forget_behind(bytes); }
    io::OutputFile::Ending finish() const override {
        ByteWriter tail;
        auto patch = writer_.finish(tail);
        return {.tail = tail.release(), .patch = std::move(patch)};
    }

private:
    struct Track {
        std::size_t index;
        mp4::TrackFormat format;
    };

    Result<void> push_sample(std::size_t stream, const mp4::TrackFormat& format, mp4::Sample sample) override {
        auto& track = at_place(tracks_, stream);
        if (track && track->format != format)
            return needs_new_file("the codec's configuration has changed");
        if (!track)
            track = Track{TRY(writer_.add_track(format)), format};
        auto pushed = writer_.push(track->index, std::move(sample));
        if (!pushed.ok() && pushed.code() == Errc::limit)
            return needs_new_file(pushed.error().sentence());
        return pushed;
    }

    Kept push_event(const media::TimedEvent&, MediaTime) override { return Kept::no; }

    mp4::MovieWriter writer_;
    ByteWriter beginning_;
    std::vector<std::optional<Track>> tracks_;
};

class FragmentedRecording final : public Mp4Recording {
public:
    // Approximate length of a fragment. A key frame of the first video track begins one, too. Otherwise one ends where no frame
    // that is shown earlier follows, so that a file that ends there lacks none; at kFragmentMax it ends anywhere.
    static constexpr MediaTime kFragment = std::chrono::seconds(1);
    static constexpr MediaTime kFragmentMax = std::chrono::seconds(2);
    // Limits of the event messages of a fragment. Further ones are dropped.
    static constexpr std::size_t kEventsMax = 64;
    static constexpr std::size_t kEventBytesMax = 64U << 10;

    explicit FragmentedRecording(const std::optional<mp4::RecordingNote>& note) : note_(note) {}

    std::size_t pending_bytes() const override { return ready_.size(); }
    bool has_whole_part() const override { return ready_.size() > 0; }
    void take(ByteWriter& out, Last last) override {
        if (last == Last::yes) {
            if (!held_.empty())
                begin();
            if (writer_)
                cut({});
        }
        out.bytes(ready_.release());
        playable_ = cut_to_;
    }
    MediaTime playable() const override { return playable_; }
    void truncate_at(std::uint64_t bytes) override {
        if (bytes < header_bytes_)
            writer_.reset();
    }
    // The header again, now with the total duration.
    io::OutputFile::Ending finish() const override {
        if (!writer_)
            return {};
        ByteWriter header;
        write_header(header, std::max(newest_, cut_to_));
        // The longest recordings would need a larger header than reserved.
        if (header.size() != header_bytes_)
            return {};
        return {.tail = {}, .patch = FilePatch{.offset = 0, .bytes = header.release()}};
    }

private:
    Result<void> push_sample(std::size_t stream, const mp4::TrackFormat& format, mp4::Sample sample) override {
        if (!writer_)
            return hold(stream, format, std::move(sample));
        const auto track = at_place(places_, stream);
        if (!track || writer_->tracks()[*track] != format)
            return needs_new_file(track ? "the codec's configuration has changed"
                                        : "a track has come that the header does not say");
        if (is_due(*track, sample))
            cut(mp4::FragmentWriter::Next{.track = *track, .dts = sample.dts});
        if (writer_->empty())
            begun_ = sample.dts;
        note(*track, sample);
        auto pushed = writer_->push(*track, sample);
        if (!pushed.ok() && pushed.code() == Errc::limit) {
            cut({});
            pushed = writer_->push(*track, std::move(sample));
        }
        return pushed;
    }
    // Written before the next fragment.
    Kept push_event(const media::TimedEvent& event, MediaTime at) override {
        using Kind = media::TimedEvent::Kind;
        if (events_ == kEventsMax || event_boxes_.size() + event.data.size() > kEventBytesMax)
            return Kept::no;
        ++events_;
        if (event.kind == Kind::text)
            mp4::write_event_message(event_boxes_, mp4::cue_at(at, event.duration, event.language, event.data.bytes()));
        else
            mp4::write_event_at(event_boxes_, event.kind == Kind::splice ? mp4::kSpliceScheme : mp4::kId3Scheme, at,
                                event.data.bytes());
        return Kept::yes;
    }
    bool is_due(std::size_t track, const mp4::Sample& sample) const {
        if (writer_->empty())
            return false;
        const bool has_video = writer_->tracks().front().kind == MediaKind::video;
        const bool is_video = has_video && track == 0;
        const MediaTime length = sample.dts - begun_;
        const bool is_in_order = is_video ? sample.pts > shown_ : !has_video;
        return (is_video && sample.key) || length >= kFragmentMax || (length >= kFragment && is_in_order);
    }
    void note(std::size_t track, const mp4::Sample& sample) {
        newest_ = std::max(newest_, sample.dts);
        if (track == 0)
            shown_ = std::max(shown_, sample.pts);
    }
    // The set of tracks is known when the first fragment is due.
    Result<void> hold(std::size_t stream, const mp4::TrackFormat& format, mp4::Sample sample) {
        constexpr std::size_t kHeldMax = 4'096;
        auto& known = at_place(formats_, stream);
        const bool has_changed = known && *known != format;
        if (!has_changed) {
            known = format;
            held_.push_back({stream, std::move(sample)});
            if (held_.size() < kHeldMax && held_.back().sample.dts - held_.front().sample.dts < kFragment)
                return {};
        }
        begin();
        if (has_changed)
            return needs_new_file("the codec's configuration has changed");
        return {};
    }
    void begin() {
        std::vector<mp4::TrackFormat> tracks;
        for (const std::size_t stream : in_order())
            if (auto& format = at_place(formats_, stream)) {
                at_place(places_, stream) = tracks.size();
                tracks.push_back(*std::move(format));
            }
        writer_.emplace(std::move(tracks));
        write_header(ready_, {});
        header_bytes_ = ready_.size();
        begun_ = held_.front().sample.dts;
        for (Held& held : held_) {
            note(*at_place(places_, held.stream), held.sample);
            static_cast<void>(writer_->push(*at_place(places_, held.stream), std::move(held.sample)));
        }
        held_.clear();
    }
    void cut(std::optional<mp4::FragmentWriter::Next> next) {
        if (!writer_->empty()) {
            ready_.bytes(event_boxes_.release());
            events_ = 0;
        }
        writer_->cut(ready_, next);
        for (std::size_t i = 0; i < writer_->tracks().size(); ++i) {
            const auto& extent = writer_->last_cut(i);
            const std::uint64_t timescale = writer_->tracks()[i].timescale;
            const std::uint64_t end = extent.start + extent.length;
            cut_to_ = std::max(cut_to_, MediaTime(std::chrono::seconds(end / timescale)) +
                                            MediaTime(static_cast<std::int64_t>(end % timescale * 1'000'000 / timescale)));
        }
    }
    void write_header(ByteWriter& out, MediaTime duration) const {
        mp4::write_fragmented_type(out);
        if (note_)
            mp4::write_recording_note(out, *note_);
        writer_->write_movie(out, duration);
    }

    struct Held {
        std::size_t stream;
        mp4::Sample sample;
    };

    const std::optional<mp4::RecordingNote> note_;
    std::vector<Held> held_;
    std::vector<std::optional<mp4::TrackFormat>> formats_;  // this and the next: by stream
    std::vector<std::optional<std::size_t>> places_;
    std::optional<mp4::FragmentWriter> writer_;
    ByteWriter ready_;
    ByteWriter event_boxes_;  // for the next fragment
    std::size_t events_ = 0;
    std::size_t header_bytes_ = 0;
    MediaTime begun_{};  // of the fragment being filled
    MediaTime newest_{};
    MediaTime shown_{};  // the latest frame of the first track
    MediaTime cut_to_{};
    MediaTime playable_{};
};

}  // namespace

void Recording::count_event(media::TimedEvent::Kind kind, Kept kept) {
    dropped_events_ += kept == Kept::yes ? 0 : 1;
    if (counts_ == nullptr)
        return;
    files::EventCounts::Kind& counts = counts_->of(kind);
    ++(kept == Kept::yes ? counts.accepted : counts.dropped);
}

std::unique_ptr<Recording> make_recording(FileFormat format, Bytes metadata, std::string_view product,
                                          const std::optional<mp4::RecordingNote>& note) {
    switch (format) {
        case FileFormat::flv: return std::make_unique<FlvRecording>(metadata, product);
        case FileFormat::mp4: return std::make_unique<MovieRecording>();
        case FileFormat::fmp4: break;
    }
    return std::make_unique<FragmentedRecording>(note);
}

}  // namespace live::service::dvr
