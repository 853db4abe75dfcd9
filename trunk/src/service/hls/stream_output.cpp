#include "service/hls/stream_output.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/log_format.hpp"
#include "base/random.hpp"
#include "engine/crypto/aes_cbc.hpp"
#include "io/file.hpp"
#include "io/loop.hpp"
#include "io/off_loop.hpp"
#include "io/replace_file.hpp"
#include "service/files/frame_limit.hpp"
#include "service/files/release.hpp"
#include "service/hls/fmp4_packager.hpp"
#include "service/hls/ts_packager.hpp"
#include "wire/hls/playlist_reader.hpp"

namespace live::service::hls {

namespace {

// Where a rendered playlist has room for a player's query: behind a URI, and behind one that has a query already.
constexpr char kRoom = '\x01';
constexpr char kRoomBeforeQuery = '\x02';

MediaTime times(std::chrono::milliseconds duration, double ratio) {
    return MediaTime(static_cast<std::int64_t>(static_cast<double>(MediaTime(duration).count()) * ratio));
}

// A part cannot be encrypted on its own here.
bool has_parts(const HlsOptions& options) { return options.ll && !options.keys; }

CutRules rules_of(const HlsOptions& options) {
    CutRules rules;
    rules.cut_at = times(options.fragment, options.td_ratio);
    rules.hard_cut_at = times(options.fragment, options.aof_ratio);
    rules.waits_for_key = options.wait_keyframe;
    if (has_parts(options))
        rules.part = options.part;
    return rules;
}

ListRules list_rules_of(const HlsOptions& options) {
    return {std::max(times(options.fragment, options.td_ratio), Segmenter::kCutMin), options.window, options.window_bytes,
            has_parts(options), options.part};
}

std::unique_ptr<Packager> make_packager(const HlsOptions& options, Container container) {
    if (container == Container::fmp4)
        return std::make_unique<Fmp4Packager>();
    return std::make_unique<TsPackager>(options.dts_directly ? TsPackager::Audio::timed : TsPackager::Audio::counted);
}

// Codecs are said all or not at all: a player takes what is left out for what is not there.
void describe(const media::Source& source, const wire::mp4::SampleReader& reader, wire::hls::Variant& variant) {
    const auto& video = reader.video();
    const auto& audio = reader.audio();
    if (video) {
        variant.width = video->width;
        variant.height = video->height;
        variant.frame_rate = video->frames_per_second;
    }
    if (source.last_time(media::Kind::video).has_value() != video.has_value() ||
        source.last_time(media::Kind::audio).has_value() != audio.has_value() || !(video || audio))
        return;
    variant.codecs = video ? video->codecs : "";
    if (audio)
        variant.codecs += (video ? "," : "") + audio->codecs;
}

void make_room(std::string& uri) {
    if (const std::size_t query = uri.find('?'); query != std::string::npos)
        uri[query] = kRoomBeforeQuery;
    else if (!uri.empty())
        uri += kRoom;
}

void make_room(wire::hls::Segment& segment) {
    make_room(segment.uri);
    make_room(segment.map);
    for (wire::hls::Part& part : segment.parts)
        make_room(part.uri);
}

Block block_of(std::string_view text) { return std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()); }

std::vector<Bytes> bytes_in(const std::vector<Block>& blocks) {
    std::vector<Bytes> bytes;
    for (const Block& block : blocks)
        bytes.emplace_back(*block);
    return bytes;
}

std::array<std::uint8_t, engine::crypto::kAesBlockBytes> random_block() {
    std::array<std::uint8_t, engine::crypto::kAesBlockBytes> bytes{};
    fill_random(bytes);
    return bytes;
}

}  // namespace

StreamOutput::StreamOutput(Setup setup, Ref<media::Source> source, FileIndex& index, HlsEvents& events, Log log)
    : setup_(std::move(setup)),
      source_(std::move(source)),
      index_(index),
      events_(events),
      log_(std::move(log)),
      names_(setup_.options, setup_.name, setup_.zone),
      cursor_(source_, has_parts(setup_.options) ? media::Listens::at_once : media::Listens::batched, media::Cursor::Start::now),
      segmenter_(rules_of(setup_.options), make_packager(setup_.options, names_.container())),
      list_(list_rules_of(setup_.options)) {
    index_.add(names_.playlist_file(), {this, IndexedFile::What::playlist, 0, {}});
}

StreamOutput::~StreamOutput() { forget_all(); }

void StreamOutput::on_published(const session::ClientRequest& publisher) {
    changes_.push_back({source_->ring().next(), publisher});
    published_ = true;
    is_given_up_ = false;
    cursor_.readable().raise();
}

void StreamOutput::on_unpublished() {
    changes_.push_back({source_->ring().next(), std::nullopt});
    published_ = false;
    ended_at_ = io::now();
    cursor_.readable().raise();
}

void StreamOutput::give_up() {
    if (std::exchange(is_given_up_, true))
        return;
    cursor_.readable().raise();
}

void StreamOutput::run(io::Deadline deadline) {
    recover(deadline);
    recovered_ = true;
    changed();
    for (;;) {
        const Drained drained = drain(deadline);
        handle_made(deadline);
        if (drained == Drained::in_part && io::yield(deadline).ok())
            continue;
        const TimePoint over_at = ended_at_ + time_after_end();
        if (!published_ && io::now() >= over_at) {
            dispose(deadline);
            if (!published_)
                break;
        }
        const auto until = published_ ? deadline : deadline.sooner(io::Deadline::at(over_at));
        const auto woken = io::wait(cursor_.readable(), until);
        if (!woken.ok() && woken.code() == Errc::cancelled)
            break;
    }
    // What there is when the server stops is worth a fragment.
    while (drain(deadline) == Drained::in_part) {
    }
    segmenter_.interrupt();
    handle_made(deadline);
    published_ = false;
    over_ = true;
    if (setup_.options.dispose.count() > 0) {
        std::vector<ListedSegment> segments = list_.take_all();
        files_.remove(take_files(segments));
        files::release(list_.take_spent());
    }
    forget_all();
    changed();
    close_files();
}

Duration StreamOutput::time_after_end() const {
    if (is_given_up_)
        return Duration::zero();
    const auto& options = setup_.options;
    return options.dispose.count() > 0 ? options.dispose : std::max(kWindowsInMemory * options.window, 3'000ms);
}

void StreamOutput::recover(io::Deadline deadline) {
    if (!setup_.options.recover)
        return;
    const auto read = read_left_behind(deadline.sooner(io::Deadline::after(kRecoverLimit)));
    if (!read.ok() && read.code() != Errc::not_found && read.code() != Errc::cancelled)
        LOG_WARN(log_, "HLS {}: the playlist of before is left aside: {}", setup_.url, read.error().text());
}

Result<void> StreamOutput::read_left_behind(io::Deadline deadline) {
    const std::filesystem::path path(names_.playlist_file());
    const auto folder = path.parent_path().string();
    const auto file = TRY(io::File::open_below(folder.empty() ? "." : folder, path.filename().string(), deadline));
    const auto text = TRY(file.read(0, wire::hls::kPlaylistBytesMax + 1, deadline));
    auto before = TRY(wire::hls::parse_media_playlist(as_text(text)));
    std::vector<std::string> paths;
    for (const wire::hls::Segment& segment : before.segments)
        paths.push_back(names_.file_of(segment.uri).value_or(""));
    const auto there = TRY(io::are_files(paths, deadline));
    // A player must find all that is listed, and the numbers have no hole.
    const auto missing = std::find(there.rbegin(), there.rend(), false);
    const auto gone = static_cast<std::size_t>(there.rend() - missing);
    std::vector<ListedSegment> segments;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        wire::hls::Segment& entry = before.segments[i];
        if (i < gone) {
            before.discontinuity_sequence += entry.discontinuity ? 1 : 0;
            continue;
        }
        ListedSegment segment;
        segment.name = {paths[i], entry.uri.substr(0, entry.uri.find('?')), ""};
        segment.duration = entry.duration;
        segment.discontinuity = entry.discontinuity;
        segment.key = std::move(entry.key);
        segment.map = std::move(entry.map);
        segments.push_back(std::move(segment));
    }
    list_.recover(std::move(segments), before.media_sequence + gone, before.discontinuity_sequence);
    inits_ = list_.next_number();  // the section of before stays what it is
    const auto has_map = [](const ListedSegment& segment) { return !segment.map.empty(); };
    if (setup_.options.use_fmp4 == Fmp4::by_codec && std::ranges::any_of(list_.listed(), has_map))
        begin_fmp4(deadline);
    LOG_INFO(log_, "HLS {}: goes on with fragment {}, {} of before are listed", setup_.url, list_.next_number(),
             list_.listed().size());
    changed();
    return {};
}

// Publishers come and go between packets.
void StreamOutput::follow_publishers(io::Deadline deadline) {
    for (; !changes_.empty() && cursor_.next() >= changes_.front().at; changes_.pop_front()) {
        const std::optional<session::ClientRequest>& publisher = changes_.front().publisher;
        if (!publisher) {
            segmenter_.interrupt();
            continue;
        }
        if (!publisher_.id.empty())
            segmenter_.restart(make_packager(setup_.options, names_.container()));
        handle_made(deadline);  // the events of the one before are its own
        formats_ = {};
        codecs_ = {};
        configs_ = {};
        publisher_ = *publisher;
        ignoring_ = false;
        list_.set_ended(false);
    }
}

bool StreamOutput::is_too_large(const media::Packet& packet) {
    if (packet.payload.size() <= files::kFrameBytesMax)
        return false;
    if (!std::exchange(large_told_, true))
        LOG_WARN(log_, "HLS {}: a frame of {} bytes is left out, as are all of over {}", setup_.url, packet.payload.size(),
                 files::kFrameBytesMax);
    return true;
}

// Others have their turn between two packets: what has gathered may be megabytes.
StreamOutput::Drained StreamOutput::drain(io::Deadline deadline) {
    for (;;) {
        follow_publishers(deadline);
        auto packet = cursor_.take();
        if (!packet)
            break;
        if (cursor_.dropped() != std::exchange(dropped_, cursor_.dropped())) {
            LOG_WARN(log_, "HLS {}: was too slow, {} packets are missing in all", setup_.url, dropped_);
            segmenter_.interrupt();
        }
        if (is_too_large(*packet))
            continue;
        note_format(*packet);
        note_codec(*packet, deadline);
        if (!ignoring_)
            segmenter_.push(*packet);
        if (io::is_turn_over())
            return Drained::in_part;
    }
    const bool is_watched = asked_at_ != TimePoint{} && io::now() - asked_at_ < 2 * std::max<Duration>(setup_.options.window, 1s);
    cursor_.set_audience(is_watched ? media::Cursor::Audience::some : media::Cursor::Audience::none);
    return Drained::all;
}

// Some codecs have no configuration: their first frame says what they are.
void StreamOutput::note_format(const media::Packet& packet) {
    if (packet.kind == media::Kind::video && (packet.is_config() || !formats_.video()))
        static_cast<void>(formats_.push_video(frame_of(packet)));
    if (packet.kind == media::Kind::audio && (packet.is_config() || !formats_.audio()))
        static_cast<void>(formats_.push_audio(frame_of(packet)));
}

void StreamOutput::note_codec(const media::Packet& packet, io::Deadline deadline) {
    if (codecs_.note(packet)) {
        // What has been fMP4 once stays it: a player cannot be told that what follows needs no header any more, and fMP4 carries
        // what MPEG-TS does.
        const bool needs_fmp4 = setup_.options.use_fmp4 == Fmp4::by_codec && codecs_.needs() == Container::fmp4;
        if (needs_fmp4 && names_.container() == Container::ts) {
            LOG_INFO(log_, "HLS {}: fragments are fMP4 from now on, players do not take these codecs from MPEG-TS", setup_.url);
            begin_fmp4(deadline);
        }
        const bool is_ts = names_.container() == Container::ts;
        if (const std::string codec = codecs_.left_out(packet.kind, names_.container()); !codec.empty())
            LOG_WARN(log_, "HLS {}: {} is left out, {} cannot carry it{}", setup_.url, codec,
                     is_ts ? "MPEG-TS" : "fragmented MP4 here",
                     is_ts && codecs_.left_out(packet.kind, Container::fmp4).empty() ? "; hls_use_fmp4 auto would" : "");
    }
    if (packet.is_config() && packet.kind != media::Kind::data)
        configs_[media::index_of(packet.kind)] = packet;
}

// Players go on with fMP4 after a discontinuity. Fragments of before that are MPEG-TS leave the list, because many players judge
// by the first one.
void StreamOutput::begin_fmp4(io::Deadline deadline) {
    segmenter_.restart(make_packager(setup_.options, Container::fmp4));
    handle_made(deadline);
    names_.set_container(Container::fmp4);
    if (!list_.listed().empty() && list_.listed().back().map.empty())
        list_.retire_all();
    list_.set_hint("");
    upcoming_.reset();
    for (const auto& config : configs_)
        if (config)
            segmenter_.push(*config);
}

void StreamOutput::handle_made(io::Deadline deadline) {
    auto made = segmenter_.take();
    const bool has_ended = !published_ && changes_.empty();
    if (made.empty() && (!has_ended || list_.hint().empty()))
        return;
    for (Made& one : made) {
        if (auto* part = std::get_if<PartMade>(&one))
            add(std::move(*part));
        else
            add(std::get<SegmentMade>(std::move(one)), deadline);
    }
    if (has_ended)
        list_.set_ended(true);
    changed();
}

FileName StreamOutput::next_name() const { return names_.fragment(list_.next_number(), {}, std::chrono::system_clock::now()); }

void StreamOutput::add(PartMade made) {
    if (!list_.has_open())
        list_.begin_open(upcoming_ ? *std::exchange(upcoming_, std::nullopt) : next_name(), made.discontinuity,
                         map_for(made.init));
    const ListedSegment& open = *list_.open();
    const ListedPart& part =
        list_.add_part({Names::part(open.name, open.parts.size()), made.duration, made.independent, std::move(made.blocks)});
    remember(open.number, part.name.file, open.parts.size() - 1);
    const FileName next = Names::part(open.name, open.parts.size());
    remember(open.number, next.file, open.parts.size());
    list_.set_hint(next.uri);
}

void StreamOutput::add(SegmentMade made, io::Deadline deadline) {
    ListedSegment segment;
    segment.number = list_.next_number();
    segment.duration = made.duration;
    segment.discontinuity = made.discontinuity;
    const auto began = std::chrono::system_clock::now() - made.duration;
    segment.name = list_.has_open() ? list_.open()->name
                                    : names_.fragment(segment.number, made.duration,
                                                      std::chrono::floor<std::chrono::system_clock::duration>(began));
    segment.map = list_.has_open() ? list_.open()->map : map_for(made.init);
    segment.blocks = std::move(made.blocks);
    segment.bytes = made.bytes;
    if (setup_.options.keys) {
        if (!key_ || segment.number % setup_.options.fragments_per_key == 0)
            renew_key(segment.number);
        if (const auto sealed = encrypt(segment, deadline); !sealed.ok())
            return fail(sealed.error());
    }
    segment.copy = std::make_shared<files::SentCopy>(index_.copies());
    const ListedSegment& listed = list_.add(std::move(segment));
    remember(listed.number, listed.name.file, {});
    if (has_parts(setup_.options)) {
        upcoming_ = next_name();
        const FileName next = Names::part(*upcoming_, 0);
        remember(list_.next_number(), next.file, 0);
        list_.set_hint(next.uri);
    }
    write(listed);
    write_list();
    clean_up();
    if (list_.is_cut_by_bytes() && !std::exchange(bytes_told_, true))
        LOG_WARN(
            log_,
            "HLS {}: its fragments take more than hls_window_bytes ({}) before they fill hls_window: the oldest leave sooner",
            setup_.url, setup_.options.window_bytes);
}

void StreamOutput::renew_key(std::uint64_t number) {
    const FileName name = names_.key(number, std::chrono::system_clock::now());
    key_bytes_ = random_block();
    key_ = wire::hls::Key{name.uri, random_block()};
    key_file_ = name.file;
    files_.write(name.file, {std::make_shared<const std::vector<std::uint8_t>>(key_bytes_.begin(), key_bytes_.end())},
                 [this](const Result<void>& written) {
                     if (!written.ok())
                         fail(written.error());
                 });
}

// In a worker thread: a large segment takes many milliseconds. When the server stops, nobody waits for one.
Result<void> StreamOutput::encrypt(ListedSegment& segment, io::Deadline deadline) {
    const auto work = [blocks = segment.blocks, key = key_bytes_, iv = key_->iv] {
        const std::vector<Bytes> parts = bytes_in(blocks);
        return engine::crypto::encrypt_aes128_cbc(key, iv, parts);
    };
    auto done = io::off_loop(work, deadline, io::Work::compute);
    if (!done.ok() && done.code() == Errc::cancelled)
        done = work();
    auto sealed = TRY(std::move(done));
    files::release(std::move(segment.blocks));
    segment.bytes = sealed.size();
    segment.blocks = {std::make_shared<const std::vector<std::uint8_t>>(std::move(sealed))};
    segment.key = key_;
    segment.key_file = key_file_;
    return {};
}

// The URI of what a segment needs first; it is written and kept when it is a new one.
std::string StreamOutput::map_for(const Block& init) {
    if (init == nullptr)
        return "";
    if (init == init_)
        return map_;
    init_ = init;
    const std::uint64_t number = inits_++;
    const FileName name = names_.init(number);
    map_ = name.uri;
    index_.add(name.file, {this, IndexedFile::What::init, number, {}});
    files_.write(name.file, {init}, [this](const Result<void>& written) {
        if (!written.ok())
            fail(written.error());
    });
    init_files_.push_back({number, name.file, init});
    if (init_files_.size() > kInitsMax) {
        index_.remove(init_files_.front().file, *this);
        files_.remove({init_files_.front().file});
        init_files_.pop_front();
    }
    return map_;
}

void StreamOutput::write(const ListedSegment& segment) {
    files_.write(segment.name.file, segment.blocks,
                 [this, number = segment.number, duration = segment.duration, name = segment.name](const Result<void>& written) {
                     on_written(number, duration, name, written);
                 });
}

void StreamOutput::on_written(std::uint64_t number, MediaTime duration, const FileName& name, const Result<void>& written) {
    if (!written.ok()) {
        list_.mark_gap(number);
        return fail(written.error());
    }
    events_.on_fragment({publisher_, setup_.name.vhost, setup_.url, duration, names_.told(name.text), name.uri,
                         names_.told(names_.playlist_url()), names_.playlist_url(), number});
}

void StreamOutput::write_list() {
    files_.write_list(names_.playlist_file(), block_of(wire::hls::write_media_playlist(list_.playlist(SegmentList::Form::disk))),
                      [this](const Result<void>& written) {
                          if (!written.ok())
                              fail(written.error());
                      });
}

// hls_on_error.
void StreamOutput::fail(const Error& error) {
    const auto now = io::now();
    const bool is_event = complained_at_ == TimePoint{} || now - complained_at_ >= kComplaintInterval;
    if (is_event) {
        complained_at_ = now;
        LOG_ERROR(log_, "HLS {}: {} (3004)", setup_.url, error.text());
    }
    switch (setup_.options.on_error) {
        case OnError::carry_on: return;
        case OnError::disconnect:
            if (published_) {
                LOG_ERROR(log_, "HLS {}: the publisher is disconnected (hls_on_error)", setup_.url);
                source_->evict_publisher();
            }
            return;
        case OnError::ignore: break;
    }
    if (published_ && !std::exchange(ignoring_, true)) {
        LOG_ERROR(log_, "HLS {}: no more fragments of this publisher (hls_on_error)", setup_.url);
        cursor_.readable().raise();
    }
}

// Files that have left the list for long enough.
void StreamOutput::clean_up() {
    std::vector<std::string> paths;
    for (ListedSegment& segment : list_.take_expired()) {
        index_.remove(segment.name.file, *this);
        paths.push_back(std::move(segment.name.file));
        const bool is_in_use = !list_.listed().empty() && list_.listed().front().key_file == segment.key_file;
        if (!segment.key_file.empty() && !is_in_use)
            paths.push_back(std::move(segment.key_file));
    }
    forget_old();
    files::release(list_.take_spent());
    if (setup_.options.cleanup && !paths.empty())
        files_.remove(std::move(paths));
}

void StreamOutput::remember(std::uint64_t number, const std::string& path, std::optional<std::uint64_t> part) {
    if (!over_)
        index_.add(path, {this, IndexedFile::What::segment, number, part});
    indexed_.emplace_back(number, path);
}

void StreamOutput::forget_old() {
    while (!indexed_.empty() && indexed_.front().first < list_.next_number() && list_.find(indexed_.front().first) == nullptr) {
        index_.remove(indexed_.front().second, *this);
        indexed_.pop_front();
    }
}

void StreamOutput::forget_all() {
    for (const auto& [number, path] : indexed_)
        index_.remove(path, *this);
    indexed_.clear();
    for (const Init& init : init_files_)
        index_.remove(init.file, *this);
    index_.remove(names_.playlist_file(), *this);
}

// The paths of all files of this stream, which are forgotten.
std::vector<std::string> StreamOutput::take_files(std::vector<ListedSegment>& segments) {
    std::vector<std::string> paths = {names_.playlist_file()};
    for (ListedSegment& segment : segments) {
        paths.push_back(std::move(segment.name.file));
        if (!segment.key_file.empty())
            paths.push_back(std::move(segment.key_file));
    }
    for (Init& init : init_files_) {
        index_.remove(init.file, *this);
        paths.push_back(std::move(init.file));
    }
    init_files_.clear();
    return paths;
}

// Everything from the disk, if that is wanted, and from memory. Somebody may publish again meanwhile: then it begins anew.
void StreamOutput::dispose(io::Deadline deadline) {
    forget_all();
    std::vector<ListedSegment> segments = list_.take_all();
    std::vector<std::string> paths = take_files(segments);
    files::release(list_.take_spent());
    init_.reset();
    inits_ = 0;
    key_.reset();
    upcoming_.reset();
    list_ = SegmentList(list_rules_of(setup_.options));
    changed();
    if (setup_.options.dispose.count() > 0) {
        LOG_INFO(log_, "HLS {}: disposes of {} files", setup_.url, paths.size());
        // Behind what is still to be written. Two owners: a cancel ends the wait before the queue is there.
        const auto removed = std::make_shared<Signal>();
        files_.remove(std::move(paths), [this, removed](const Result<void>& done) {
            if (!done.ok())
                LOG_WARN(log_, "HLS {}: {}", setup_.url, done.error().text());
            removed->raise();
        });
        static_cast<void>(io::wait(*removed, deadline));
    }
    if (published_)
        index_.add(names_.playlist_file(), {this, IndexedFile::What::playlist, 0, {}});
}

void StreamOutput::changed() {
    for (std::string& text : texts_)
        text.clear();
    waiters_->raise();
}

std::string& StreamOutput::rendered(SegmentList::Form form) {
    std::string& text = texts_[form == SegmentList::Form::delta ? 1 : 0];
    if (!text.empty())
        return text;
    auto playlist = list_.playlist(form);
    for (wire::hls::Segment& segment : playlist.segments)
        make_room(segment);
    if (playlist.low_latency) {
        make_room(playlist.low_latency->open);
        make_room(playlist.low_latency->hint);
    }
    return text = wire::hls::write_media_playlist(playlist);
}

std::optional<std::string> StreamOutput::playlist_text(SegmentList::Form form, std::string_view query) {
    if (list_.empty())
        return std::nullopt;
    const auto is_room = [](char letter) { return letter == kRoom || letter == kRoomBeforeQuery; };
    const std::string added = query.empty() ? "" : "?" + std::string(query);
    const std::string before_query = added.empty() ? "?" : added + "&";
    std::string_view rest = rendered(form);
    std::string text;
    text.reserve(rest.size());
    while (!rest.empty()) {
        const auto end = static_cast<std::size_t>(std::ranges::find_if(rest, is_room) - rest.begin());
        text += rest.substr(0, end);
        if (end < rest.size())
            text += rest[end] == kRoom ? added : before_query;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return text;
}

std::optional<std::vector<Block>> StreamOutput::blocks_of(const IndexedFile& file) const {
    if (file.what == IndexedFile::What::init) {
        const auto found = std::ranges::find(init_files_, file.number, &Init::number);
        return found == init_files_.end() ? std::nullopt : std::optional(std::vector{found->bytes});
    }
    const ListedSegment* segment = list_.find(file.number);
    if (segment == nullptr)
        return std::nullopt;
    if (file.part)
        return *file.part < segment->parts.size() ? std::optional(segment->parts[*file.part].blocks) : std::nullopt;
    return segment->blocks.empty() ? std::nullopt : std::optional(segment->blocks);
}

io::MemoryFileRef StreamOutput::copy_for_request(const IndexedFile& file) const {
    const ListedSegment* segment = file.what == IndexedFile::What::segment && !file.part ? list_.find(file.number) : nullptr;
    return segment == nullptr || segment->copy == nullptr ? nullptr : segment->copy->for_request(segment->blocks);
}

bool StreamOutput::is_promised(const IndexedFile& file) const {
    return published_ && file.part && file.number == list_.next_number() && !blocks_of(file);
}

bool StreamOutput::is_low_latency() const { return has_parts(setup_.options); }

wire::hls::Variant StreamOutput::variant() const {
    std::uint64_t most = 0;
    std::uint64_t bits = 0;
    double seconds = 0;
    for (const ListedSegment& segment : list_.listed()) {
        const double length = std::chrono::duration<double>(segment.duration).count();
        if (segment.bytes == 0 || length <= 0)
            continue;
        const std::uint64_t size = 8 * std::uint64_t{segment.bytes};
        most = std::max(most, static_cast<std::uint64_t>(static_cast<double>(size) / length));
        bits += size;
        seconds += length;
    }
    const auto average = seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(bits) / seconds) : 0;
    wire::hls::Variant variant;
    variant.bandwidth = std::max<std::uint64_t>(most, 1);
    variant.average_bandwidth = std::max<std::uint64_t>(average, 1);
    describe(*source_, formats_, variant);
    return variant;
}

}  // namespace live::service::hls
