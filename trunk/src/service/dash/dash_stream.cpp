#include "service/dash/dash_stream.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/bytes/hash.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "service/dash/headers.hpp"
#include "service/dash/left_behind.hpp"
#include "service/segments/cmaf_muxer.hpp"

namespace live::service::dash {

using segments::CmafMuxer;
using segments::Segmenter;

namespace {

std::string without_ending(const std::string& path) {
    const std::filesystem::path whole(path);
    return (whole.parent_path() / whole.stem()).generic_string();
}

Block block_of(std::string_view text) { return std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()); }

// Of the listed duration, which is all that a later process knows.
std::uint64_t bit_rate(std::size_t bytes, const MpdSegment& times) {
    constexpr std::uint64_t kBitsAndMillis = 8'000;
    const auto duration = listed_duration(times);
    return duration.count() > 0 ? bytes * kBitsAndMillis / static_cast<std::uint64_t>(duration.count()) : 0;
}

segments::StreamOfFilesRef named(segments::StreamOfFiles name, Duration idle_limit) {
    name.idle_limit = idle_limit;
    return std::make_shared<segments::StreamOfFiles>(std::move(name));
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
                       const DashOptions& options, segments::Store& store, Log log)
    : mpd_path_(std::move(mpd)),
      folder_(without_ending(mpd_path_) + "/"),
      claim_(std::move(claim)),
      options_(options),
      name_(named(std::move(name), idle_limit_of(options))),
      store_(store),
      log_(std::move(log)),
      feed_("DASH", std::move(source), options.ll ? media::WakeMode::at_once : media::WakeMode::batched, log_),
      synced_({"dash", hash_of_rules(options), feed_.source(), log_},
              Segmenter(rules_of(options), Segmenter::Layout::by_track,
                        [] { return std::make_unique<CmafMuxer>(CmafMuxer::SegmentType::said); })),
      segmenter_(synced_.segmenter()),
      promises_(store_, name_, folder_) {}

DashStream::~DashStream() { forget_all(); }

void DashStream::run(io::Deadline deadline) {
    using Next = segments::SourceFeed::Next;
    name_->url = url();
    for (Next next = Next::packets; next == Next::packets;) {
        const auto drained = feed_.drain(*this, deadline);
        look_for_audience();
        handle_made();
        next = feed_.wait(drained, time_after_end(), deadline);
    }
    // When the server stops and files stay on disk, what is left is still made into a segment.
    while (feed_.drain(*this, deadline) == segments::SourceFeed::Drained::in_part) {
    }
    segmenter_.interrupt();
    feed_.end();
    handle_made();
    over_ = true;
    dispose();
    forget_all();
    close_files();
    for (std::deque<Segment>* segments : {&listed_, &left_})
        while (!segments->empty())
            release_first(*segments);
}

std::size_t DashStream::held_bytes() const {
    std::size_t sum = disk_.bytes() + segmenter_.bytes() + synced_.kept_bytes();
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            sum += segment.held_bytes();
    return sum;
}

Duration DashStream::time_after_end() const {
    if (options_.dispose.count() > 0)
        return options_.dispose;
    return std::max<Duration>(kFragmentsInMemory * options_.window_size * options_.fragment, 3s);
}

// The presentation goes on: players that have its MPD find the next segments where they expect them.
void DashStream::recover(io::Deadline deadline) {
    auto left = read_left_behind(mpd_path_, folder_, deadline.sooner(io::Deadline::after(kRecoverLimit)));
    if (!left.ok()) {
        if (left.code() != Errc::not_found && left.code() != Errc::cancelled)
            LOG_WARN(log_, "DASH {}: the MPD of before is left aside: {}", url(), left.error().text());
        return;
    }
    began_ = left->began;
    began_at_ = io::now() - std::chrono::duration_cast<Duration>(std::chrono::system_clock::now() - *began_);
    left_until_ = left->until;
    inits_ = left->inits;
    period_start_ = left->period_start;
    headers_hash_ = left->headers.empty() ? 0 : hash_of(left->headers, [](const auto& header) { return Bytes(header); });
    const std::size_t count = left->tracks.front().segments.size();
    for (std::size_t i = 0; i < count; ++i) {
        Segment& segment = listed_.emplace_back();
        segment.number = left->next_number - count + i;
        segment.period = inits_ - 1;
        for (const ReadMpd::Track& track : left->tracks) {
            const std::size_t bytes = left->bytes[i * left->tracks.size() + segment.tracks.size()];
            segment.tracks.push_back({{path_of(track.id, segment.number), nullptr}, track.segments[i], bytes});
        }
    }
    for (const ReadMpd::Track& track : left->tracks)
        left_tracks_.push_back(track.id);
    // Players and nodes that relay the stream may have the beginning of the segment that was being made: its name is not given
    // again, and an MPD cannot leave a number out.
    segmenter_.skip_to(left->next_number + (options_.ll ? 1 : 0));
    if (options_.ll)
        leave_list();
    LOG_INFO(log_, "DASH {}: goes on with fragment {}, {} of before are listed", url(), segmenter_.number(), listed_.size());
}

void DashStream::on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) {
    const bool relays = publisher && publisher->kind == session::ClientKind::relay_pull;
    synced_.end_publisher(relays);
    handle_made();
    if (!publisher) {
        promises_.break_all();
        if (options_.ll && newest() != nullptr)
            write_mpd();
        return;
    }
    synced_.begin_publisher(relays);
    // Of a relayed stream the origin says where it is.
    if (!std::exchange(has_begun_, true) && !relays)
        recover(deadline);
    disk_.set_off(publisher->is_sibling);  // another worker writes them
    opened_.reset();
    must_follow_clock_ = began_.has_value();
}

void DashStream::on_packet(const media::Packet& packet, io::Deadline) {
    if (must_follow_clock_ && !packet.is_config())
        follow_clock(packet.dts + synced_.to_origin());
    media::Packet shifted = packet;
    shifted.dts += shift_;
    synced_.push(shifted);
}

void DashStream::on_sync(const media::SyncMessage& message, io::Deadline) {
    const auto sync = synced_.read(message);
    if (!sync)
        return;
    if (sync->list.size() >= kPlaceNumbers) {
        const auto time_of = [&sync](Place at) { return time_in(*sync, at); };
        synced_.shift(time_of(kShift) - std::exchange(shift_, time_of(kShift)));
        must_follow_clock_ = false;
        if (time_of(kBegan) > MediaTime{}) {
            began_ = std::chrono::system_clock::time_point(time_of(kBegan));
            began_at_ = io::now() - std::chrono::duration_cast<Duration>(std::chrono::system_clock::now() - *began_);
        }
    }
    synced_.follow(*sync);
    handle_made();
}

void DashStream::look_for_audience() {
    feed_.set_watched(name_->asked_at != TimePoint{} && io::now() - name_->asked_at < name_->idle_limit);
}

// While nobody published, media time stood still, but players go by the wall clock.
void DashStream::follow_clock(MediaTime at_origin) {
    must_follow_clock_ = false;
    const MediaTime by_clock = std::chrono::duration_cast<MediaTime>(io::now() - began_at_);
    if (left_until_)
        go_on(at_origin, by_clock);
    const MediaTime behind = by_clock - (at_origin + shift_);
    if (behind >= kGapMin)
        shift_ += std::chrono::floor<std::chrono::milliseconds>(behind);
}

// Segments of before are listed for as long as their players may be at them.
void DashStream::go_on(MediaTime first, MediaTime by_clock) {
    const MediaTime until = *std::exchange(left_until_, std::nullopt);
    const MediaTime window = options_.window_size * MediaTime(options_.fragment);
    const bool is_ahead = first > std::max(until, by_clock) + kGapMin;
    if (is_ahead)
        began_.reset();  // the source is older than the presentation: another one begins, with the next numbers
    if (is_ahead || until + window < by_clock)
        leave_list();
    // Players may have had parts of the segment that was being made, up to the time of the clock.
    const MediaTime from =
        options_.ll ? std::max<MediaTime>(until, std::chrono::ceil<std::chrono::milliseconds>(by_clock)) : until;
    shift_ = std::max(from - first, MediaTime{});
}

void DashStream::handle_made() {
    for (segments::SyncedSegmenter::Event& event : synced_.take())
        std::visit([this](auto&& what) { add(std::move(what)); }, std::move(event));
}

void DashStream::add(segments::SegmenterEvent made) {
    std::visit([this](auto&& what) { add(std::move(what)); }, std::move(made));
}

// Restarts the list, because the headers have changed or segment numbers have a gap.
void DashStream::leave_list() {
    left_.insert(left_.end(), std::move_iterator(listed_.begin()), std::move_iterator(listed_.end()));
    listed_.clear();
}

void DashStream::add(const segments::HeadersChanged& made) {
    const std::uint64_t hash = hash_of(made.headers);
    const std::uint64_t number = inits_ > 0 && hash == headers_hash_ ? inits_ - 1 : inits_;
    // Another number for the same bytes: that of a node that has begun to count again.
    if (!periods_.empty() && are_same(headers(), made.headers) && number == periods_.back().number)
        return;
    const auto is_of = [](const segments::Header& header, const std::string& track) { return header.id.name() == track; };
    const auto left_tracks = std::exchange(left_tracks_, {});
    const bool are_left = std::ranges::equal(made.headers, left_tracks, is_of) && hash == headers_hash_;
    const auto is_later = [number](const Period& period) { return period.number >= number; };
    const bool repeats = std::ranges::any_of(periods_, is_later);
    if ((!left_tracks.empty() && !are_left) || repeats)
        leave_list();
    if (repeats)
        periods_.clear();
    begin_period(made.headers, number, hash);
    std::vector<HeldFile>& files = init_files_.emplace_back();
    std::vector<std::string> tracks;
    for (const segments::Header& header : headers()) {
        tracks.push_back(header.id.name());
        files.push_back(hold(fmt::format("{}{}-init{}.mp4", folder_, tracks.back(), init_suffix(number)), {header.init}));
        write(files.back().path, {header.init});
    }
    if (init_files_.size() > kInitsMax) {
        std::vector<std::string> paths;
        for (const HeldFile& oldest : init_files_.front()) {
            forget(oldest);
            paths.push_back(oldest.path);
        }
        disk_.remove(std::move(paths));
        init_files_.pop_front();
    }
    promises_.set_tracks(std::move(tracks));
}

// Players do not expect other codecs or sizes within a period.
void DashStream::begin_period(const std::vector<segments::Header>& headers, std::uint64_t number, std::uint64_t hash) {
    Period& period = periods_.emplace_back(Period{number, headers, {}});
    if (number == 0)
        period.start = MediaTime{};
    else if (inits_ == number + 1 && hash == headers_hash_)
        period.start = period_start_;
    headers_hash_ = hash;
    inits_ = number + 1;
    if (period.start)
        period_start_ = *period.start;
}

void DashStream::note_period_start(MediaTime start) {
    if (!periods_.back().start)
        periods_.back().start = period_start_ = std::chrono::floor<std::chrono::milliseconds>(start);
}

const Segment* DashStream::newest() const {
    return listed_.empty() || periods_.empty() || listed_.back().period != periods_.back().number ? nullptr : &listed_.back();
}

void DashStream::add(const segments::SegmentOpened& opened) {
    opened_ = opened.state;
    place_ = {static_cast<std::uint64_t>(shift_.count()), 0, inits_, headers_hash_,
              static_cast<std::uint64_t>(period_start_.count())};
    publish_opened();
}

void DashStream::publish_opened() {
    if (began_)
        place_[kBegan] = static_cast<std::uint64_t>(std::chrono::duration_cast<MediaTime>(began_->time_since_epoch()).count());
    synced_.publish(*opened_, place_);
}

// The list goes on as on the origin.
void DashStream::add(const segments::OriginFollower::Resumed& resumed) {
    if (resumed.sync.list.size() < kPlaceNumbers)
        return;
    const std::uint64_t number = std::get<segments::SegmentState>(resumed.sync.event).number;
    const std::uint64_t next = listed_.empty() ? number : listed_.back().number + 1;
    const bool repeats = resumed.is_same_instance && number < next;
    listed_below_ = repeats ? next : 0;
    if (listed_.empty() || (number != next && !repeats))
        followed_from_ = number;
    if (number != next && !repeats)
        leave_list();
    promises_.break_all();
    open_.clear();
    inits_ = resumed.sync.list[kInits];
    headers_hash_ = resumed.sync.list[kHeaders];
    period_start_ = time_in(resumed.sync, kPeriodStart);
    LOG_INFO(log_, "DASH {}: follows the origin from fragment {} on", url(), number);
}

// The first media is now; of a relayed stream the origin says when that was.
void DashStream::note_begin(MediaTime media_now) {
    if (began_ || synced_.is_following())
        return;
    began_ = std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(media_now);
    began_at_ = io::now() - std::chrono::duration_cast<Duration>(media_now);
    if (opened_ && !synced_.relays())
        publish_opened();
}

std::size_t DashStream::leader() const {
    const auto is_leader = [](const segments::Header& header) { return header.id.kind == MediaKind::video; };
    const auto found = std::ranges::find_if(headers(), is_leader);
    return found == headers().end() ? 0 : static_cast<std::size_t>(found - headers().begin());
}

void DashStream::add(const segments::PartMade& made) {
    if (is_listed_already(made.number))
        return;
    note_begin(made.start + made.duration);
    promises_.make(made.number);
    for (std::size_t i = 0; i < made.pieces.size(); ++i)
        for (const Block& block : made.pieces[i].blocks)
            promises_.current().tracks[i].held.file->add(block);
    if (!made.begins)
        return;
    note_period_start(made.segment_start);
    open_.clear();
    for (std::size_t i = 0; i < headers().size(); ++i) {
        const MpdSegment* before = newest() == nullptr ? nullptr : &newest()->tracks[i].times;
        const bool meets = before != nullptr && std::chrono::abs(before->start + before->duration - made.segment_start) < kGapMin;
        open_.push_back({meets ? before->start + before->duration : made.segment_start, expected_duration()});
    }
    write_mpd();
}

// The previous segment's duration.
MediaTime DashStream::expected_duration() const {
    return newest() == nullptr ? MediaTime(options_.fragment) : newest()->tracks[leader()].times.duration;
}

void DashStream::add(segments::SegmentMade made) {
    if (is_listed_already(made.number))
        return;
    const segments::Extent& leading = made.pieces[leader()].extent;
    note_begin(leading.start + leading.duration);
    open_.clear();
    note_period_start(made.start);
    Segment segment = promises_.take(made.number).value_or(Segment());
    for (const TrackPiece& piece : segment.tracks)
        piece.held.file->end();
    segment.number = made.number;
    segment.period = periods_.back().number;
    segment.tracks.resize(made.pieces.size());
    for (std::size_t i = 0; i < made.pieces.size(); ++i) {
        segments::Piece& from = made.pieces[i];
        TrackPiece& piece = segment.tracks[i];
        if (piece.held.file == nullptr)
            piece.held = hold(file_of(i, made.number), from.blocks);
        piece.times = {from.extent.start, from.extent.duration};
        piece.bytes = from.bytes;
        write(piece.held.path, std::move(from.blocks));
    }
    listed_.push_back(std::move(segment));
    if (options_.ll && feed_.is_published())
        promises_.make(made.number + 1);
    clean_up();
    write_mpd();
    if (began_)
        disk_.write_list(mpd_path_, block_of(mpd_text(List::disk)), {});
}

void DashStream::add(const segments::SegmentDropped& made) {
    LOG_WARN(log_, "DASH {}: fragment {} lacks a track, and is left out", url(), made.number);
    open_.clear();
    promises_.break_all();
    leave_list();
}

void DashStream::write(const std::string& path, std::vector<Block> blocks) {
    disk_.write(path, std::move(blocks), [this](const Result<void>& written) {
        if (written.ok() || (complained_at_ != TimePoint{} && io::now() - complained_at_ < kComplaintInterval))
            return;
        complained_at_ = io::now();
        LOG_ERROR(log_, "DASH {}: {}", url(), written.error().text());
    });
}

void DashStream::write_mpd() {
    if (!began_)
        return;
    const bool begins_here = !synced_.is_following() || listed_.empty() || listed_.front().number <= followed_from_;
    name_->is_partial = synced_.relays() && begins_here;
    mpd_ = hold(mpd_path_, {block_of(mpd_text(List::players))}).file;
}

// `ahead`: that many segments are still to be made, or being made.
MpdTrack DashStream::mpd_track(const Period& period, std::size_t index, std::size_t ahead) const {
    const segments::RepresentationId& id = period.headers[index].id;
    MpdTrack track;
    track.id = id.name();
    track.format = period.headers[index].format.value_or(wire::mp4::TrackFormat());
    track.is_extra = id.extra;
    if (const media::Track* known = id.track_of(feed_.source())) {
        track.language = known->language;
        track.label = known->name;
    }
    for (const Segment& segment : listed_) {
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
    const auto first = std::ranges::find(listed_, period.number, &Segment::period);
    made.first_number = first == listed_.end() ? segmenter_.number() : first->number;
    for (std::size_t i = 0; i < period.headers.size(); ++i)
        made.tracks.push_back(mpd_track(period, i, ahead));
    return made;
}

// On disk the MPD lists only complete segments. With low latency, players get the next one too before it begins: they load the
// MPD each expected_duration(), and would stall where they learned of a segment later than that.
std::string DashStream::mpd_text(List list) const {
    const std::size_t ahead = list == List::players && !promises_.is_empty() ? Promises::kAhead + 1 : 0;
    Mpd mpd;
    static_cast<MpdPeriod&>(mpd) = mpd_period(periods_.back(), ahead);
    for (const Period& period : periods_)
        if (&period != &periods_.back() && std::ranges::find(listed_, period.number, &Segment::period) != listed_.end())
            mpd.earlier.push_back(mpd_period(period, 0));
    mpd.began = *began_;
    // The time of writing is that of the newest media, so that all nodes write the same.
    const auto& leading = mpd.tracks[leader()].segments;
    const MpdSegment& next = leading[leading.size() - std::max<std::size_t>(ahead, 1)];
    const MediaTime until = next.start + (ahead > 0 ? MediaTime{} : next.duration);
    mpd.written = *began_ + std::chrono::duration_cast<std::chrono::system_clock::duration>(until);
    mpd.update_period = options_.update_period;
    mpd.window_size = options_.window_size;
    mpd.folder = std::filesystem::path(mpd_path_).stem().string() + "/";
    if (ahead > 0) {
        mpd.chunk = options_.part;
        mpd.update_period = std::min<MediaTime>(options_.update_period, expected_duration());
    }
    return text_of(mpd);
}

void DashStream::clean_up() {
    for (; listed_.size() > options_.window_size; listed_.pop_front())
        left_.push_back(std::move(listed_.front()));
    while (periods_.size() > 1 && (listed_.empty() || periods_.front().number < listed_.front().period))
        periods_.pop_front();
    std::size_t held = 0;
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            held += segment.bytes();
    std::vector<std::string> paths;
    for (; left_.size() > kGrace || (held > options_.window_bytes && !left_.empty()); release_first(left_)) {
        held -= left_.front().bytes();
        forget(left_.front(), paths);
    }
    for (; held > options_.window_bytes && listed_.size() > 1; release_first(listed_)) {
        held -= listed_.front().bytes();
        forget(listed_.front(), paths);
        report_bytes();
    }
    if (options_.cleanup && !paths.empty())
        disk_.remove(std::move(paths));
}

// Files still being sent are freed when the request ends.
void DashStream::release_first(std::deque<Segment>& segments) {
    std::vector<Block> spent;
    for (const TrackPiece& piece : segments.front().tracks)
        if (piece.held.file != nullptr && piece.held.file.use_count() == 1)
            std::ranges::move(piece.held.file->let_go(), std::back_inserter(spent));
    segments.pop_front();
    io::free_off_loop(std::move(spent));
}

void DashStream::report_bytes() {
    if (!std::exchange(bytes_logged_, true))
        LOG_WARN(log_,
                 "DASH {}: its fragments take more than dash_window_bytes ({}) before they are dash_window_size: the oldest "
                 "leave sooner",
                 url(), options_.window_bytes);
}

void DashStream::forget(const Segment& segment, std::vector<std::string>& paths) {
    for (const TrackPiece& piece : segment.tracks) {
        forget(piece.held);
        paths.push_back(piece.held.path);
    }
}

HeldFile DashStream::hold(const std::string& path, const std::vector<Block>& blocks) {
    return {path, store_.add(path, name_, blocks)};
}

// Drops everything from memory; returns the paths of all segments and headers.
std::vector<std::string> DashStream::forget_all() {
    promises_.break_all();
    std::vector<std::string> paths;
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            forget(segment, paths);
    for (const std::vector<HeldFile>& files : init_files_)
        for (const HeldFile& file : files) {
            forget(file);
            paths.push_back(file.path);
        }
    if (mpd_)
        store_.remove(mpd_path_, mpd_);
    return paths;
}

void DashStream::dispose() {
    if (options_.dispose.count() == 0)
        return;
    std::vector<std::string> paths = forget_all();
    paths.insert(paths.begin(), mpd_path_);
    LOG_INFO(log_, "DASH {}: disposes of {} files", url(), paths.size());
    disk_.remove(std::move(paths));
}

std::string DashStream::path_of(const std::string& track, std::uint64_t number) const {
    return fmt::format("{}{}-{}.m4s", folder_, track, number);
}

std::string DashStream::file_of(std::size_t track, std::uint64_t number) const {
    return path_of(headers()[track].id.name(), number);
}

}  // namespace live::service::dash
