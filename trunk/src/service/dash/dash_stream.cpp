#include "service/dash/dash_stream.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/bytes/hash.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/dash/headers.hpp"
#include "service/dash/previous_mpd.hpp"
#include "service/segments/cmaf_muxer.hpp"
#include "wire/scte35/splice_info.hpp"
#include "wire/ts/clock.hpp"

namespace live::service::dash {

using segments::CmafMuxer;
using segments::Segmenter;

namespace {

std::string without_ending(const std::string& path) {
    const std::filesystem::path whole(path);
    return (whole.parent_path() / whole.stem()).generic_string();
}

Block block_of(std::string_view text) { return std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()); }

// The rate of the listed duration: a later process has no other.
std::uint64_t bit_rate(std::size_t bytes, const MpdSegment& times) {
    constexpr std::uint64_t kBitsAndMillis = 8'000;
    const auto duration = listed_duration(times);
    return duration.count() > 0 ? bytes * kBitsAndMillis / static_cast<std::uint64_t>(duration.count()) : 0;
}

segments::CutRules rules_of(const DashOptions& options) {
    segments::CutRules rules;
    rules.cut_at = rules.audio_cut_at = options.fragment;
    rules.hard_cut_at.reset();
    rules.whole_only = true;
    if (options.ll) {
        rules.part = options.part;
        rules.named_ahead = 1 + Promises::kAhead;
    }
    return rules;
}

// The numbers in a sync message: the shift to MPD time and when media time was zero (0: not known yet), in microseconds, the
// headers so far, the hash of the newest, and the start of their period in microseconds, which earlier versions do not have.
enum Place : std::size_t { kShift, kBegan, kInits, kHeaders, kPlaceNumbers, kPeriodStart = kPlaceNumbers };

MediaTime time_in(const segments::SegmentSync& sync, std::size_t at) {
    const std::uint64_t number = at < sync.list.size() ? sync.list[at] : 0;
    return MediaTime(static_cast<std::int64_t>(std::min<std::uint64_t>(number, segments::SegmentSync::kNumberMax)));
}

std::uint64_t hash_of_rules(const DashOptions& options) {
    return hash_of_numbers({static_cast<std::uint64_t>(MediaTime(options.fragment).count()),
                            options.ll ? static_cast<std::uint64_t>(MediaTime(options.part).count()) : 0});
}

segments::Output::Setup output_setup_of(const DashOptions& options, segments::StreamOfFiles name) {
    name.idle_limit = idle_limit_of(options);
    return {"DASH", "dash", hash_of_rules(options), options.ll ? media::WakeMode::at_once : media::WakeMode::batched,
            std::make_shared<segments::StreamOfFiles>(std::move(name))};
}

Segmenter segmenter_of(const DashOptions& options) {
    return {rules_of(options), Segmenter::Layout::by_track,
            [] { return std::make_unique<CmafMuxer>(CmafMuxer::SegmentType::said); }};
}

std::uint64_t micros_of(MediaTime time) { return static_cast<std::uint64_t>(time.count()); }

}  // namespace

// Header names differ from every HLS file name and need no claim; the files of additional tracks have longer names.
std::vector<std::string> DashStream::claimed_paths(const std::string& mpd) {
    return {mpd, without_ending(mpd) + "/audio-[seq].m4s", without_ending(mpd) + "/video-[seq].m4s"};
}

std::vector<std::string> DashStream::segment_forms(const std::string& mpd_form) {
    std::vector<std::string> forms;
    for (const char* name : {"/audio-[seq].m4s", "/video-[seq].m4s", "/audio-init.mp4", "/video-init.mp4",
                             "/audio-[seq]-init.mp4", "/video-[seq]-init.mp4"})
        forms.push_back(without_ending(mpd_form) + name);
    return forms;
}

DashStream::DashStream(Ref<media::Source> source, std::string mpd, files::PathClaims::Claim claim, segments::StreamOfFiles name,
                       const DashOptions& options, segments::Store& store, files::EventCounts& counts, Log log)
    : Output(output_setup_of(options, std::move(name)), *this, std::move(source), segmenter_of(options), std::move(log)),
      mpd_path_(std::move(mpd)),
      claim_(std::move(claim)),
      options_(options),
      files_(options_, without_ending(mpd_path_) + "/", store, stream(), url(), this->log()),
      promises_(store, stream(), without_ending(mpd_path_) + "/"),
      counts_(counts) {
    stream()->url = url();
}

DashStream::~DashStream() { forget_all(); }

// With dash_dispose no file stays on disk.
void DashStream::finish() {
    std::vector<std::string> paths = forget_all();
    if (options_.dispose.count() > 0) {
        paths.insert(paths.begin(), mpd_path_);
        LOG_INFO(log(), "DASH {}: disposing of {} files", url(), paths.size());
        files_.disk().remove(std::move(paths));
    }
    close_files();
    files_.release();
}

Duration DashStream::time_after_end() const {
    if (options_.dispose.count() > 0)
        return options_.dispose;
    return std::max<Duration>(kFragmentsInMemory * options_.window_size * options_.fragment, 3s);
}

// The presentation continues: players that have its MPD find the next segments at the times and numbers that they expect.
void DashStream::recover(io::Deadline deadline) {
    auto left =
        read_previous_mpd(mpd_path_, without_ending(mpd_path_) + "/", deadline.sooner(io::Deadline::after(kRecoverLimit)));
    if (!left.ok()) {
        if (left.code() != Errc::not_found && left.code() != Errc::cancelled)
            LOG_WARN(log(), "DASH {}: ignoring the previous MPD: {}", url(), left.error().text());
        return;
    }
    began_ = left->began;
    began_at_ = io::now() - std::chrono::duration_cast<Duration>(std::chrono::system_clock::now() - *began_);
    previous_until_ = left->until;
    const std::uint64_t hash =
        left->headers.empty() ? 0 : hash_of(left->headers, [](const auto& header) { return Bytes(header); });
    periods_.resume({left->inits, hash, left->period_start});
    const std::size_t count = left->tracks.front().segments.size();
    for (std::size_t i = 0; i < count; ++i) {
        Segment segment;
        segment.number = left->next_number - count + i;
        segment.period = left->inits - 1;
        for (const ReadMpd::Track& track : left->tracks) {
            const std::size_t bytes = left->bytes[i * left->tracks.size() + segment.tracks.size()];
            segment.tracks.push_back({{files_.path_of(track.id, segment.number), nullptr}, track.segments[i], bytes});
        }
        files_.add(std::move(segment));
    }
    for (const ReadMpd::Track& track : left->tracks)
        previous_tracks_.push_back(track.id);
    // Players and nodes that relay the stream may have the beginning of the segment that was in progress. Its name must not be
    // used for another segment, and an MPD cannot omit a number.
    segmenter().skip_to(left->next_number + (options_.ll ? 1 : 0));
    if (options_.ll)
        files_.leave_list();
    LOG_INFO(log(), "DASH {}: continuing with fragment {}, listing {} previous fragments", url(), segmenter().number(),
             files_.listed().size());
}

void DashStream::on_publisher_change(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) {
    if (!publisher) {
        promises_.abandon_all();
        if (options_.ll && newest() != nullptr)
            write_mpd();
        return;
    }
    // The sync messages of a relayed stream have its place.
    if (!std::exchange(has_begun_, true) && !relays())
        recover(deadline);
    files_.disk().set_off(publisher->is_sibling);  // another worker writes them
    opened_.reset();
    must_follow_clock_ = began_.has_value();
}

bool DashStream::accept(const media::Packet& packet, io::Deadline) {
    if (must_follow_clock_ && !packet.is_config())
        follow_clock(packet.dts + to_origin());
    return true;
}

void DashStream::on_segment_sync(const segments::SegmentSync& sync, io::Deadline) {
    if (sync.list.size() < kPlaceNumbers)
        return;
    follow_shift(time_in(sync, kShift));
    must_follow_clock_ = false;
    const MediaTime began = time_in(sync, kBegan);
    if (began == MediaTime{})
        return;
    began_ = std::chrono::system_clock::time_point(began);
    began_at_ = io::now() - std::chrono::duration_cast<Duration>(std::chrono::system_clock::now() - *began_);
}

// Media time stood still without a publisher, but players go by the wall clock.
void DashStream::follow_clock(MediaTime at_origin) {
    must_follow_clock_ = false;
    const MediaTime by_clock = std::chrono::duration_cast<MediaTime>(io::now() - began_at_);
    if (previous_until_)
        continue_recovered(at_origin, by_clock);
    const MediaTime behind = by_clock - (at_origin + shift());
    if (behind >= kGapMin)
        set_shift(shift() + std::chrono::floor<std::chrono::milliseconds>(behind));
}

// Recovered segments are listed for as long as their players may need them.
void DashStream::continue_recovered(MediaTime first, MediaTime by_clock) {
    const MediaTime until = *std::exchange(previous_until_, std::nullopt);
    const MediaTime window = options_.window_size * MediaTime(options_.fragment);
    const bool is_ahead = first > std::max(until, by_clock) + kGapMin;
    if (is_ahead)
        began_.reset();  // the source is older than the presentation: a new presentation begins, with the next numbers
    if (is_ahead || until + window < by_clock)
        files_.leave_list();
    // Players may have had parts of the segment in progress, up to the time of the clock.
    const MediaTime from =
        options_.ll ? std::max<MediaTime>(until, std::chrono::ceil<std::chrono::milliseconds>(by_clock)) : until;
    set_shift(std::max(from - first, MediaTime{}));
}

void DashStream::on_headers(const segments::HeadersChanged& event) {
    const std::uint64_t hash = hash_of(event.headers);
    const std::uint64_t number = periods_.number_of(hash);
    // Equal headers have another number if the origin has restarted its count.
    if (!periods_.empty() && are_same(headers(), event.headers) && number == periods_.current().number)
        return;
    const auto is_of = [](const segments::Header& header, const std::string& track) { return header.id.name() == track; };
    const auto left_tracks = std::exchange(previous_tracks_, {});
    const bool are_left = std::ranges::equal(event.headers, left_tracks, is_of) && hash == periods_.place().hash;
    const bool repeats = periods_.reaches(number);
    if ((!left_tracks.empty() && !are_left) || repeats)
        files_.leave_list();
    if (repeats)
        periods_.clear();
    periods_.begin(event.headers, number, hash);
    promises_.set_tracks(files_.add_headers(headers(), number));
}

const Segment* DashStream::newest() const {
    const auto& listed = files_.listed();
    return listed.empty() || periods_.empty() || listed.back().period != periods_.current().number ? nullptr : &listed.back();
}

void DashStream::on_opened(const segments::SegmentState& state) {
    opened_ = state;
    const Periods::Place& place = periods_.place();
    place_ = {micros_of(shift()), 0, place.inits, place.hash, micros_of(place.start)};
    publish_opened();
}

void DashStream::publish_opened() {
    if (began_)
        place_[kBegan] = micros_of(std::chrono::duration_cast<MediaTime>(began_->time_since_epoch()));
    publish(*opened_, place_);
}

// The list continues as on the origin.
void DashStream::on_resumed(const segments::Resumed& event) {
    const segments::SegmentSync& sync = event.sync;
    if (!event.is_same_instance)
        events_.clear();  // their times are of another timeline; the splices of the segment follow
    if (sync.list.size() < kPlaceNumbers)
        return;
    const std::uint64_t number = std::get<segments::SegmentState>(sync.event).number;
    const auto& listed = files_.listed();
    const std::uint64_t next = listed.empty() ? number : listed.back().number + 1;
    const bool repeats = event.is_same_instance && number < next;
    skip_below(repeats ? next : 0);
    if (listed.empty() || (number != next && !repeats))
        follow_from(number);
    if (number != next && !repeats)
        files_.leave_list();
    promises_.abandon_all();
    open_.clear();
    periods_.resume({sync.list[kInits], sync.list[kHeaders], time_in(sync, kPeriodStart)});
    LOG_INFO(log(), "DASH {}: following the origin from fragment {} on", url(), number);
}

// The first media is at the current time. The sync messages of a relayed stream have the time at the origin.
void DashStream::note_begin(MediaTime media_now) {
    if (began_ || is_following())
        return;
    began_ = std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(media_now);
    began_at_ = io::now() - std::chrono::duration_cast<Duration>(media_now);
    if (opened_ && !relays())
        publish_opened();
}

std::size_t DashStream::leader() const {
    const auto is_leader = [](const segments::Header& header) { return header.id.kind == MediaKind::video; };
    const auto found = std::ranges::find_if(headers(), is_leader);
    return found == headers().end() ? 0 : static_cast<std::size_t>(found - headers().begin());
}

void DashStream::on_part(segments::PartMade event) {
    note_begin(event.start + event.duration);
    promises_.make(event.number);
    for (std::size_t i = 0; i < event.pieces.size(); ++i)
        for (const Block& block : event.pieces[i].blocks)
            promises_.current().tracks[i].held.file->add(block);
    if (!event.begins)
        return;
    periods_.note_start(event.segment_start);
    open_.clear();
    for (std::size_t i = 0; i < headers().size(); ++i) {
        const MpdSegment* before = newest() == nullptr ? nullptr : &newest()->tracks[i].times;
        const bool meets =
            before != nullptr && std::chrono::abs(before->start + before->duration - event.segment_start) < kGapMin;
        open_.push_back({meets ? before->start + before->duration : event.segment_start, expected_duration()});
    }
    write_mpd();
}

// The previous segment's duration.
MediaTime DashStream::expected_duration() const {
    return newest() == nullptr ? MediaTime(options_.fragment) : newest()->tracks[leader()].times.duration;
}

void DashStream::on_segment(segments::SegmentMade event, io::Deadline) {
    const segments::Extent& leading = event.pieces[leader()].extent;
    note_begin(leading.start + leading.duration);
    open_.clear();
    periods_.note_start(event.start);
    Segment segment = promises_.take(event.number).value_or(Segment());
    for (const TrackPiece& piece : segment.tracks)
        piece.held.file->end();
    segment.number = event.number;
    segment.period = periods_.current().number;
    segment.tracks.resize(event.pieces.size());
    for (std::size_t i = 0; i < event.pieces.size(); ++i) {
        segments::Piece& from = event.pieces[i];
        TrackPiece& piece = segment.tracks[i];
        if (piece.held.file == nullptr)
            piece.held = files_.hold(file_of(i, event.number), from.blocks);
        piece.times = {from.extent.start, from.extent.duration};
        piece.bytes = from.bytes;
        files_.write(piece.held.path, std::move(from.blocks));
    }
    files_.add(std::move(segment));
    if (options_.ll && is_published() && !is_ending())
        promises_.make(event.number + 1);
    files_.trim();
    if (files_.listed().empty())
        periods_.drop_earlier();
    else
        periods_.drop_before(files_.listed().front().period);
    write_mpd();
    if (began_)
        files_.disk().write_list(mpd_path_, block_of(mpd_text(List::disk)), {});
}

// Encoders repeat the message of an event.
void DashStream::on_event(const segments::EventFound& found) {
    constexpr MediaTime kSameMax = 1s;
    if (found.event.kind == media::TimedEvent::Kind::text)
        return;
    ++counts_.of(found.event.kind).accepted;
    if (found.event.kind != media::TimedEvent::Kind::splice)
        return;
    const Bytes section = found.event.data.bytes();
    const auto info = wire::scte35::parse_splice_info(section);
    MpdEvent event{.time = found.event.at, .section = {section.begin(), section.end()}};
    if (info.ok())
        for (const wire::scte35::Cue& cue : wire::scte35::cues_of(*info)) {
            event.id = cue.event_id;
            if (cue.ticks)
                event.duration = wire::ts::time_of(static_cast<std::int64_t>(std::min(*cue.ticks, wire::scte35::kTicksMask)));
        }
    const auto is_it = [&](const MpdEvent& known) {
        return known.id == event.id && std::chrono::abs(known.time - event.time) < kSameMax;
    };
    if (std::ranges::any_of(events_, is_it))
        return;
    add(std::move(event));
}

void DashStream::add(MpdEvent event) {
    if (!files_.listed().empty()) {
        const MediaTime from = files_.listed().front().tracks.front().times.start;
        std::erase_if(events_, [from](const MpdEvent& one) { return one.time + one.duration.value_or(MediaTime{}) < from; });
    }
    if (events_.size() == kEventsMax) {
        events_.erase(events_.begin());
        ++counts_.of(media::TimedEvent::Kind::splice).dropped;
        if (!std::exchange(events_logged_, true))
            LOG_WARN(log(), "DASH {}: dropping the oldest markers: an MPD has at most {}", url(), kEventsMax);
    }
    events_.push_back(std::move(event));
}

void DashStream::on_dropped(const segments::SegmentDropped& event) {
    LOG_WARN(log(), "DASH {}: fragment {} lacks a track, and is left out", url(), event.number);
    open_.clear();
    promises_.abandon_all();
    files_.leave_list();
}

void DashStream::write_mpd() {
    if (!began_)
        return;
    const auto& listed = files_.listed();
    stream()->is_partial = lacks_segments(listed.empty() ? std::nullopt : std::optional(listed.front().number));
    mpd_ = files_.hold(mpd_path_, {block_of(mpd_text(List::players))}).file;
}

// `ahead`: the number of segments that are in progress or follow.
MpdTrack DashStream::mpd_track(const Period& period, std::size_t index, std::size_t ahead) const {
    const segments::RepresentationId& id = period.headers[index].id;
    MpdTrack track;
    track.id = id.name();
    track.format = period.headers[index].format.value_or(wire::mp4::TrackFormat());
    track.is_extra = id.extra;
    if (const media::Track* known = id.track_of(source())) {
        track.language = known->language;
        track.label = known->name;
        track.captions = known->captions.found();
    }
    for (const Segment& segment : files_.listed()) {
        if (segment.period != period.number)
            continue;
        const TrackPiece& piece = segment.tracks[index];
        track.segments.push_back(piece.times);
        track.bits_a_second = std::max(track.bits_a_second, bit_rate(piece.bytes, piece.times));
    }
    if (ahead > 0 && !open_.empty()) {
        track.segments.push_back(open_[index]);
        --ahead;
    }
    for (; ahead > 0 && !track.segments.empty(); --ahead) {
        const MpdSegment& last = track.segments.back();
        track.segments.push_back({last.start + last.duration, expected_duration()});
    }
    return track;
}

MpdPeriod DashStream::mpd_period(const Period& period, std::size_t ahead) const {
    MpdPeriod made;
    made.start = period.start.value_or(MediaTime{});
    made.init_number = period.number;
    const auto first = std::ranges::find(files_.listed(), period.number, &Segment::period);
    made.first_number = first == files_.listed().end() ? segmenter().number() : first->number;
    for (std::size_t i = 0; i < period.headers.size(); ++i)
        made.tracks.push_back(mpd_track(period, i, ahead));
    return made;
}

// On disk the MPD lists only complete segments. With low latency, the players' MPD also lists the next one before it begins: they
// load the MPD every expected_duration(), and would stall if it listed a segment later than that.
std::string DashStream::mpd_text(List list) const {
    const std::size_t ahead = list == List::players && !promises_.is_empty() ? Promises::kAhead + 1 : 0;
    Mpd mpd;
    static_cast<MpdPeriod&>(mpd) = mpd_period(periods_.current(), ahead);
    for (const Period& period : periods_.all())
        if (&period != &periods_.current() &&
            std::ranges::find(files_.listed(), period.number, &Segment::period) != files_.listed().end())
            mpd.earlier.push_back(mpd_period(period, 0));
    mpd.began = *began_;
    // The time of writing is that of the newest media, so that all nodes write the same MPD.
    const auto& leading = mpd.tracks[leader()].segments;
    const MpdSegment& next = leading[leading.size() - std::max<std::size_t>(ahead, 1)];
    const MediaTime until = next.start + (ahead > 0 ? MediaTime{} : next.duration);
    mpd.written = *began_ + std::chrono::duration_cast<std::chrono::system_clock::duration>(until);
    mpd.update_period = options_.update_period;
    mpd.window_size = options_.window_size;
    mpd.events = events_;
    mpd.folder = std::filesystem::path(mpd_path_).stem().string() + "/";
    if (ahead > 0) {
        mpd.chunk = options_.part;
        mpd.update_period = std::min<MediaTime>(options_.update_period, expected_duration());
    }
    return text_of(mpd);
}

// Drops everything from memory, and returns the paths of all segments and headers.
std::vector<std::string> DashStream::forget_all() {
    promises_.abandon_all();
    std::vector<std::string> paths = files_.forget_all();
    if (mpd_)
        files_.forget({mpd_path_, mpd_});
    return paths;
}

std::string DashStream::file_of(std::size_t track, std::uint64_t number) const {
    return files_.path_of(headers()[track].id.name(), number);
}

}  // namespace live::service::dash
