#include "service/dash/dash_stream.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/log_format.hpp"
#include "io/loop.hpp"
#include "service/files/frame_limit.hpp"
#include "service/files/release.hpp"

namespace live::service::dash {

namespace {

constexpr std::string_view name_of(Track track) { return track == Track::audio ? "audio" : "video"; }

std::string without_ending(const std::string& path) {
    const std::filesystem::path whole(path);
    return (whole.parent_path() / whole.stem()).generic_string();
}

Block block_of(std::string_view text) { return std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()); }

// Who has asked for nothing for so long does not watch.
Duration idle_limit_of(const DashOptions& options) {
    return 2 * std::max<Duration>(std::max(options.update_period, options.fragment), 1s);
}

std::uint64_t bit_rate(std::size_t bytes, MediaTime time) {
    constexpr std::uint64_t kBitsAndMicros = 8'000'000;
    return time.count() > 0 ? bytes * kBitsAndMicros / static_cast<std::uint64_t>(time.count()) : 0;
}

}  // namespace

HeldStreamRef DashStream::named(HeldStream name, Duration idle_limit) {
    name.idle_limit = idle_limit;
    return std::make_shared<const HeldStream>(std::move(name));
}

// Headers are named as HLS never names its files, and so need no claim of their own.
std::vector<std::string> DashStream::claimed_paths(const std::string& mpd) {
    std::vector<std::string> paths = {mpd};
    for (const Track track : kTracks)
        paths.push_back(fmt::format("{}/{}-[seq].m4s", without_ending(mpd), name_of(track)));
    return paths;
}

DashStream::DashStream(Ref<media::Source> source, std::string mpd, files::PathClaims::Claim claim, HeldStream name,
                       const DashOptions& options, HeldFiles& held, Log log)
    : source_(source),
      mpd_path_(std::move(mpd)),
      folder_(without_ending(mpd_path_) + "/"),
      claim_(std::move(claim)),
      options_(options),
      name_(named(std::move(name), idle_limit_of(options))),
      held_(held),
      log_(std::move(log)),
      cursor_(std::move(source), options.ll ? media::Listens::at_once : media::Listens::batched, media::Cursor::Start::now),
      segmenter_(options.fragment, options.ll ? std::optional<MediaTime>(options.part) : std::nullopt) {}

DashStream::~DashStream() { forget_all(); }

void DashStream::on_published() {
    changes_.push_back({source_->ring().next(), true});
    published_ = true;
    is_given_up_ = false;
    cursor_.readable().raise();
}

void DashStream::on_unpublished() {
    changes_.push_back({source_->ring().next(), false});
    published_ = false;
    ended_at_ = io::now();
    cursor_.readable().raise();
}

void DashStream::run(io::Deadline deadline) {
    for (;;) {
        const Drained drained = drain();
        handle_made();
        if (drained == Drained::in_part && io::yield(deadline).ok())
            continue;
        const TimePoint over_at = ended_at_ + time_after_end();
        if (!published_ && io::now() >= over_at)
            break;
        const auto until = published_ ? deadline : deadline.sooner(io::Deadline::at(over_at));
        const auto woken = io::wait(cursor_.readable(), until);
        if (!woken.ok() && woken.code() == Errc::cancelled)
            break;
    }
    // What there is when the server stops is worth a segment, where files stay.
    while (drain() == Drained::in_part) {
    }
    segmenter_.finish();
    published_ = false;
    handle_made();
    over_ = true;
    dispose();
    forget_all();
    close_files();
    for (std::deque<Segment>* segments : {&listed_, &left_})
        while (!segments->empty())
            release_first(*segments);
}

void DashStream::give_up() {
    if (std::exchange(is_given_up_, true))
        return;
    cursor_.readable().raise();
}

std::size_t DashStream::held_bytes() const {
    std::size_t sum = disk_.bytes() + segmenter_.bytes();
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            sum += segment.all_bytes();
    return sum;
}

Duration DashStream::time_after_end() const {
    if (is_given_up_)
        return Duration::zero();
    if (options_.dispose.count() > 0)
        return options_.dispose;
    return std::max<Duration>(kFragmentsInMemory * options_.window_size * options_.fragment, 3s);
}

// Publishers come and go between packets.
void DashStream::follow_publishers() {
    for (; !changes_.empty() && cursor_.next() >= changes_.front().at; changes_.pop_front()) {
        if (!changes_.front().begins) {
            segmenter_.finish();
            continue;
        }
        segmenter_.restart();
        must_follow_clock_ = began_.has_value();
    }
}

bool DashStream::is_too_large(const media::Packet& packet) {
    if (packet.payload.size() <= files::kFrameBytesMax)
        return false;
    if (!std::exchange(large_told_, true))
        LOG_WARN(log_, "DASH {}: a frame of {} bytes is left out, as are all of over {}", url(), packet.payload.size(),
                 files::kFrameBytesMax);
    return true;
}

// Others have their turn between two packets: what has gathered may be megabytes.
DashStream::Drained DashStream::drain() {
    for (;;) {
        follow_publishers();
        auto packet = cursor_.take();
        if (!packet)
            break;
        if (cursor_.dropped() != std::exchange(dropped_, cursor_.dropped())) {
            LOG_WARN(log_, "DASH {}: was too slow, {} packets are missing in all", url(), dropped_);
            segmenter_.finish();
        }
        if (is_too_large(*packet))
            continue;
        if (must_follow_clock_ && !packet->is_config())
            follow_clock(*packet);
        packet->dts += shift_;
        segmenter_.push(*packet);
        if (io::is_turn_over())
            return Drained::in_part;
    }
    look_for_audience();
    return Drained::all;
}

// Each MPD is another file, and is asked for again and again.
void DashStream::look_for_audience() {
    if (mpd_ && mpd_->was_asked())
        asked_at_ = io::now();
    const bool is_watched = asked_at_ != TimePoint{} && io::now() - asked_at_ < name_->idle_limit;
    cursor_.set_audience(is_watched ? media::Cursor::Audience::some : media::Cursor::Audience::none);
}

// Nobody published for a while: media time has stood still, and the clock that players go by has not.
void DashStream::follow_clock(const media::Packet& packet) {
    must_follow_clock_ = false;
    const MediaTime by_clock = std::chrono::duration_cast<MediaTime>(io::now() - began_at_);
    const MediaTime behind = by_clock - (packet.dts + shift_);
    if (behind >= kGapMin)
        shift_ += std::chrono::floor<std::chrono::milliseconds>(behind);
}

void DashStream::handle_made() {
    for (Made& one : segmenter_.take())
        std::visit([this](auto&& what) { add(std::move(what)); }, std::move(one));
    if (!published_)
        break_promise();
}

void DashStream::add(HeadersMade made) {
    // What is listed belongs to other headers.
    left_.insert(left_.end(), std::move_iterator(listed_.begin()), std::move_iterator(listed_.end()));
    listed_.clear();
    init_suffix_ = inits_ == 0 ? "" : fmt::format("-{}", inits_);
    ++inits_;
    formats_ = {};
    Init init;
    for (const Track track : kTracks) {
        const std::size_t i = index_of(track);
        if (!made.headers[i])
            continue;
        formats_[i] = std::move(made.headers[i]->format);
        init.paths[i] = fmt::format("{}{}-init{}.mp4", folder_, name_of(track), init_suffix_);
        init.held[i] = hold(init.paths[i], {made.headers[i]->bytes});
        write(init.paths[i], {made.headers[i]->bytes});
    }
    init_files_.push_back(std::move(init));
    if (init_files_.size() > kInitsMax) {
        Init& oldest = init_files_.front();
        disk_.remove(forget(oldest));
        init_files_.pop_front();
    }
    if (promised_)
        promise_tracks();
}

void DashStream::note_begin(MediaTime media_now) {
    if (began_)
        return;
    began_ = std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(media_now);
    began_at_ = io::now() - std::chrono::duration_cast<Duration>(media_now);
}

void DashStream::add(const ChunkMade& made) {
    note_begin(made.end);
    promise(made.number);
    for (std::size_t i = 0; i < kTrackCount; ++i)
        if (made.blocks[i] != nullptr)
            promised_->held[i]->add(made.blocks[i]);
    if (!made.begins)
        return;
    open_.emplace();
    for (const Track track : kTracks) {
        const std::size_t i = index_of(track);
        const MpdSegment* before = listed_.empty() ? nullptr : &listed_.back().times[i];
        const bool meets = before != nullptr && std::chrono::abs(before->start + before->duration - made.start) < kGapMin;
        (*open_)[i] = {meets ? before->start + before->duration : made.start, foretold()};
    }
    write_mpd(true);
}

// As long as the one before.
MediaTime DashStream::foretold() const {
    return listed_.empty() ? MediaTime(options_.fragment) : listed_.back().times[index_of(leader())].duration;
}

void DashStream::add(SegmentMade made) {
    const TrackSegment& leading = made.tracks[index_of(leader())];
    note_begin(leading.start + leading.duration);
    open_.reset();
    Segment segment;
    if (promised_ && promised_->number == made.number) {
        segment = *std::exchange(promised_, std::nullopt);
        for (const Held& held : segment.held)
            if (held != nullptr)
                held->end();
    }
    segment.number = made.number;
    for (const Track track : kTracks) {
        if (!is_there(track))
            continue;
        const std::size_t i = index_of(track);
        TrackSegment& of = made.tracks[i];
        const std::string path = file_of(track, made.number);
        segment.times[i] = {of.start, of.duration};
        segment.bytes[i] = of.bytes;
        if (segment.held[i] == nullptr)
            segment.held[i] = hold(path, of.blocks);
        write(path, std::move(of.blocks));
    }
    listed_.push_back(std::move(segment));
    if (options_.ll && published_)
        promise(made.number + 1);
    clean_up();
    write_mpd(false);
}

// Numbers in a list have no holes: behind a lost segment it begins anew.
void DashStream::add(const SegmentDropped& made) {
    LOG_WARN(log_, "DASH {}: fragment {} has video or audio only, and is left out", url(), made.number);
    open_.reset();
    break_promise();
    left_.insert(left_.end(), std::move_iterator(listed_.begin()), std::move_iterator(listed_.end()));
    listed_.clear();
}

void DashStream::promise(std::uint64_t number) {
    if (promised_ && promised_->number == number)
        return;
    break_promise();
    promised_ = Segment();
    promised_->number = number;
    promise_tracks();
}

// Those that are there, and no others.
void DashStream::promise_tracks() {
    for (const Track track : kTracks) {
        Held& held = promised_->held[index_of(track)];
        if (is_there(track) == (held != nullptr))
            continue;
        const std::string path = file_of(track, promised_->number);
        if (held == nullptr) {
            held = held_.add(path, name_);
            continue;
        }
        held->end();
        held_.remove(path, held);
        held.reset();
    }
}

void DashStream::break_promise() {
    if (!promised_)
        return;
    for (const Track track : kTracks) {
        const Held& held = promised_->held[index_of(track)];
        if (held == nullptr)
            continue;
        held->end();
        held_.remove(file_of(track, promised_->number), held);
    }
    promised_.reset();
}

void DashStream::write(const std::string& path, std::vector<Block> blocks) {
    disk_.write(path, std::move(blocks), [this](const Result<void>& written) {
        if (written.ok() || (complained_at_ != TimePoint{} && io::now() - complained_at_ < kComplaintInterval))
            return;
        complained_at_ = io::now();
        LOG_ERROR(log_, "DASH {}: {}", url(), written.error().text());
    });
}

// The disk has whole segments only.
void DashStream::write_mpd(bool with_open) {
    const std::string text = mpd_text(with_open);
    mpd_ = hold(mpd_path_, {block_of(text)});
    if (!with_open)
        disk_.write_list(mpd_path_, block_of(text), {});
}

std::string DashStream::mpd_text(bool with_open) const {
    Mpd mpd;
    mpd.began = *began_;
    mpd.written = std::chrono::system_clock::now();
    mpd.update_period = options_.update_period;
    mpd.window_size = options_.window_size;
    mpd.folder = std::filesystem::path(mpd_path_).stem().string() + "/";
    mpd.init_suffix = init_suffix_;
    mpd.first_number = listed_.empty() ? segmenter_.number() : listed_.front().number;
    for (const Track track : kTracks) {
        if (!is_there(track))
            continue;
        const std::size_t i = index_of(track);
        MpdTrack& shown = (track == Track::audio ? mpd.audio : mpd.video).emplace();
        shown.format = *formats_[i];
        for (const Segment& segment : listed_) {
            shown.segments.push_back(segment.times[i]);
            shown.bits_a_second = std::max(shown.bits_a_second, bit_rate(segment.bytes[i], segment.times[i].duration));
        }
        if (with_open)
            shown.segments.push_back((*open_)[i]);
    }
    if (with_open) {
        mpd.chunk = options_.part;
        mpd.update_period = std::min<MediaTime>(options_.update_period, foretold());
    }
    return text_of(mpd);
}

void DashStream::clean_up() {
    for (; listed_.size() > options_.window_size; listed_.pop_front())
        left_.push_back(std::move(listed_.front()));
    std::size_t held = 0;
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            held += segment.all_bytes();
    std::vector<std::string> paths;
    for (; left_.size() > kGrace || (held > options_.window_bytes && !left_.empty()); release_first(left_)) {
        held -= left_.front().all_bytes();
        forget(left_.front(), paths);
    }
    for (; held > options_.window_bytes && listed_.size() > 1; release_first(listed_)) {
        held -= listed_.front().all_bytes();
        forget(listed_.front(), paths);
        report_bytes();
    }
    if (options_.cleanup && !paths.empty())
        disk_.remove(std::move(paths));
}

// What is being sent to somebody is freed with that.
void DashStream::release_first(std::deque<Segment>& segments) {
    std::vector<Block> spent;
    for (const Held& held : segments.front().held)
        if (held != nullptr && held.use_count() == 1)
            std::ranges::move(held->take_blocks(), std::back_inserter(spent));
    segments.pop_front();
    files::release(std::move(spent));
}

void DashStream::report_bytes() {
    if (!std::exchange(bytes_told_, true))
        LOG_WARN(log_,
                 "DASH {}: its fragments take more than dash_window_bytes ({}) before they are dash_window_size: the oldest "
                 "leave sooner",
                 url(), options_.window_bytes);
}

void DashStream::forget(const Segment& segment, std::vector<std::string>& paths) {
    for (const Track track : kTracks) {
        if (segment.held[index_of(track)] == nullptr)
            continue;
        paths.push_back(file_of(track, segment.number));
        held_.remove(paths.back(), segment.held[index_of(track)]);
    }
}

std::vector<std::string> DashStream::forget(const Init& init) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < kTrackCount; ++i) {
        if (init.held[i] == nullptr)
            continue;
        held_.remove(init.paths[i], init.held[i]);
        paths.push_back(init.paths[i]);
    }
    return paths;
}

HeldFileRef DashStream::hold(const std::string& path, const std::vector<Block>& blocks) {
    auto file = held_.add(path, name_);
    for (const Block& block : blocks)
        file->add(block);
    file->end();
    return file;
}

// From memory.
void DashStream::forget_all() {
    break_promise();
    std::vector<std::string> ignored;
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            forget(segment, ignored);
    for (const Init& init : init_files_)
        forget(init);
    if (mpd_)
        held_.remove(mpd_path_, mpd_);
}

void DashStream::dispose() {
    if (options_.dispose.count() == 0)
        return;
    std::vector<std::string> paths = {mpd_path_};
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            forget(segment, paths);
    for (const Init& init : init_files_)
        std::ranges::move(forget(init), std::back_inserter(paths));
    LOG_INFO(log_, "DASH {}: disposes of {} files", url(), paths.size());
    disk_.remove(std::move(paths));
}

std::string DashStream::file_of(Track track, std::uint64_t number) const {
    return fmt::format("{}{}-{}.m4s", folder_, name_of(track), number);
}

}  // namespace live::service::dash
