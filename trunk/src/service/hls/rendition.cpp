#include "service/hls/rendition.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "io/fibers/off_loop.hpp"
#include "service/segments/segment_sync.hpp"

namespace live::service::hls {

namespace {

// Placeholders in a rendered playlist for a player's query: after a URI without a query, and after one that already has a query.
constexpr char kPlaceholder = '\x01';
constexpr char kRoomBeforeQuery = '\x02';

void add_placeholders(std::string& uri) {
    if (const std::size_t query = uri.find('?'); query != std::string::npos)
        uri[query] = kRoomBeforeQuery;
    else if (!uri.empty())
        uri += kPlaceholder;
}

// Keys at an address of the operator need no query.
void add_placeholders(wire::hls::Segment& segment, bool has_key_url) {
    add_placeholders(segment.uri);
    add_placeholders(segment.map);
    if (segment.key && !has_key_url)
        add_placeholders(segment.key->uri);
    for (wire::hls::Part& part : segment.parts)
        add_placeholders(part.uri);
}

}  // namespace

Rendition::Rendition(const Shared& shared, Names names, const ListRules& rules)
    : shared_(shared), names_(std::move(names)), rules_(rules), list_(rules) {}

void Rendition::recover(std::vector<ListedSegment> segments, std::uint64_t first_number, std::uint64_t discontinuities) {
    list_.recover(std::move(segments), first_number, discontinuities);
    inits_ = list_.next_number();  // earlier sections keep their numbers and content
}

void Rendition::set_container(Container container) {
    names_.set_container(container);
    if (container == Container::fmp4 && !list_.listed().empty() && list_.listed().back().map.empty())
        list_.retire_all();
    break_promise();
    list_.set_hint("");
    upcoming_.reset();
}

void Rendition::retire() {
    list_.retire_all();
    break_promise();
    list_.set_hint("");
    forget_text();
}

FileName Rendition::next_name() const { return names_.fragment(list_.next_number(), {}, std::chrono::system_clock::now()); }

// Writes and keeps the initialization section if it is new.
void Rendition::set_header(const segments::Header& header) {
    format_ = header.format;
    if (header.init == nullptr)
        map_.clear();
    if (header.init == nullptr)
        return;
    const std::uint64_t hash = segments::hash_of_init(*header.init);
    const std::uint64_t number = inits_ > 0 && hash == init_hash_ ? inits_ - 1 : inits_;
    // Equal sections have another number if the origin has restarted its count.
    if (init_ != nullptr && *header.init == *init_ && number == init_number_)
        return;
    init_ = header.init;
    init_hash_ = hash;
    init_number_ = number;
    inits_ = number + 1;
    const FileName name = names_.init(number);
    map_ = name.uri;
    init_files_.push_back({number, name.file, shared_.store.add(name.file, shared_.stream, {init_})});
    shared_.disk.write(name.file, {init_});
    if (init_files_.size() > kInitsMax) {
        shared_.store.remove(init_files_.front().path, init_files_.front().file);
        shared_.disk.remove({init_files_.front().path});
        init_files_.pop_front();
    }
}

Rendition::Place Rendition::place() const { return {inits_, init_hash_, list_.usual_part()}; }

void Rendition::align(std::uint64_t number, std::uint64_t discontinuities, const Place& place, MediaTime missing) {
    drop_open();
    const std::uint64_t next = list_.next_number();
    if (number > next && !list_.listed().empty() && number - next <= kGapsMax) {
        const MediaTime each = missing / static_cast<std::int64_t>(number - next);
        while (list_.next_number() < number)
            add_absent(std::max(each, MediaTime{}), false);
    } else if (number != list_.next_number()) {
        retire();
        upcoming_.reset();
    }
    list_.skip_to(number);
    list_.set_discontinuities_before_next(discontinuities);
    list_.note_usual_part(place.usual_part);
    inits_ = place.inits;
    init_hash_ = place.init_hash;
    forget_text();
}

// Requests for the part wait until it is complete.
void Rendition::promise(const FileName& part) {
    if (open_file_ == nullptr)
        open_file_ = shared_.store.make(shared_.stream);
    promised_ = {list_.next_number(), part.file, shared_.store.add_part(part.file, open_file_)};
    list_.set_hint(part.uri);
}

void Rendition::break_promise() {
    if (promised_.file == nullptr)
        return;
    promised_.file->end();
    shared_.store.remove(promised_.path, promised_.file);
    promised_.file.reset();
}

void Rendition::set_ended(bool ended) {
    list_.set_ended(ended);
    if (ended)
        break_promise();
    else if (promised_.file == nullptr && !list_.hint().empty() && open_file_ != nullptr)
        promised_.file = shared_.store.add_part(promised_.path, open_file_);
    forget_text();
}

void Rendition::add(const segments::PartMade& made, const segments::Piece& piece) {
    if (!list_.has_open())
        list_.begin_open({upcoming_ ? *std::exchange(upcoming_, std::nullopt) : next_name(), made.discontinuity, map_, made.date,
                          piece.starts_with_key});
    const ListedSegment& open = *list_.open();
    FileName name = Names::part(open.name, open.parts.size());
    if (promised_.file == nullptr || promised_.path != name.file) {
        break_promise();
        promise(name);
    }
    Held part = std::exchange(promised_, {});
    part.file->end(piece.blocks);
    for (const Block& block : piece.blocks)
        open_file_->add(block);
    list_.add_part({std::move(name), made.duration, piece.independent, part.file});
    parts_.push_back(std::move(part));
    promise(Names::part(open.name, open.parts.size()));
    forget_text();
}

const ListedSegment& Rendition::add(const segments::SegmentMade& made, const segments::Piece& piece, const Keys* keys) {
    ListedSegment segment;
    segment.date = made.date;
    segment.independent = piece.starts_with_key;
    segment.number = list_.next_number();
    segment.duration = made.duration;
    segment.discontinuity = made.discontinuity;
    const auto began = std::chrono::system_clock::now() - made.duration;
    segment.name = list_.has_open() ? list_.open()->name
                                    : names_.fragment(segment.number, made.duration,
                                                      std::chrono::floor<std::chrono::system_clock::duration>(began));
    segment.map = list_.has_open() ? list_.open()->map : map_;
    if (keys != nullptr) {
        segment.key = keys->key();
        segment.key_file = keys->file();
    }
    break_promise();
    segment.file = list_.has_open() ? std::exchange(open_file_, nullptr) : shared_.store.make(shared_.stream);
    segment.file->end(list_.has_open() ? std::span<const Block>() : piece.blocks);
    segment.bytes = segment.file->bytes();
    segment.absent = segment.bytes == 0;
    shared_.store.put(segment.name.file, segment.file);
    held_.push_back({segment.number, segment.name.file, segment.file});
    const ListedSegment& listed = list_.add(std::move(segment));
    open_file_.reset();
    if (has_parts()) {
        upcoming_ = next_name();
        promise(Names::part(*upcoming_, 0));
    }
    forget_text();
    return listed;
}

void Rendition::add_absent(MediaTime duration, bool discontinuity) {
    ListedSegment segment;
    segment.name = names_.fragment(list_.next_number(), duration, std::chrono::system_clock::now());
    segment.duration = duration;
    segment.discontinuity = discontinuity;
    segment.map = map_;
    segment.absent = true;
    break_promise();
    open_file_.reset();
    upcoming_.reset();
    list_.set_hint("");
    list_.add(std::move(segment));
    forget_text();
}

void Rendition::drop_open() {
    if (!list_.has_open())
        return;
    MediaTime duration{};
    for (const ListedPart& part : list_.open()->parts)
        duration += part.duration;
    add_absent(duration, list_.open()->discontinuity);
}

void Rendition::mark_gap(std::uint64_t number) { list_.mark_gap(number); }

void Rendition::write_list() {
    auto playlist = list_.playlist(SegmentList::Form::disk);
    shared_.ranges.describe(playlist, shared_.options.cue_tags);
    shared_.disk.write_list(names_.playlist_file(), wire::hls::write_media_playlist(playlist));
}

void Rendition::clean_up(std::vector<std::string>& paths) {
    for (ListedSegment& segment : list_.take_expired()) {
        paths.push_back(std::move(segment.name.file));
        if (segment.key_file != nullptr && !list_.needs(segment.key_file))
            paths.push_back(segment.key_file->path());
    }
    forget_old();
    io::free_off_loop(list_.take_dropped_blocks());
}

void Rendition::forget_old() {
    while (!held_.empty() && held_.front().number < list_.next_number() && list_.find(held_.front().number) == nullptr) {
        shared_.store.remove(held_.front().path, held_.front().file);
        held_.pop_front();
    }
    // Parts share blocks with their segments, and must not keep them after the segments are gone.
    for (; !parts_.empty() && !list_.serves_parts_of(parts_.front().number); parts_.pop_front())
        shared_.store.remove(parts_.front().path, parts_.front().file);
}

void Rendition::forget() {
    break_promise();
    for (const std::deque<Held>* held : {&held_, &parts_, &init_files_})
        for (const Held& one : *held)
            shared_.store.remove(one.path, one.file);
    held_.clear();
    parts_.clear();
}

std::vector<std::string> Rendition::take_all() {
    std::vector<std::string> paths = {names_.playlist_file()};
    forget();
    for (ListedSegment& segment : list_.take_all()) {
        paths.push_back(std::move(segment.name.file));
        if (segment.key_file != nullptr)
            paths.push_back(segment.key_file->path());
    }
    for (Held& init : init_files_)
        paths.push_back(std::move(init.path));
    init_files_.clear();
    io::free_off_loop(list_.take_dropped_blocks());
    init_.reset();
    init_hash_ = 0;
    inits_ = 0;
    map_.clear();
    upcoming_.reset();
    open_file_.reset();
    list_ = SegmentList(rules_);
    forget_text();
    return paths;
}

std::string& Rendition::rendered(SegmentList::Form form) {
    std::string& text = texts_[form == SegmentList::Form::delta ? 1 : 0];
    if (!text.empty())
        return text;
    const bool has_key_url = !shared_.options.key_url.empty();
    auto playlist = list_.playlist(form);
    shared_.ranges.describe(playlist, shared_.options.cue_tags);
    for (wire::hls::Segment& segment : playlist.segments)
        add_placeholders(segment, has_key_url);
    if (playlist.low_latency) {
        add_placeholders(playlist.low_latency->open, has_key_url);
        add_placeholders(playlist.low_latency->hint);
        playlist.low_latency->reports = reports_;
        for (wire::hls::RenditionReport& report : playlist.low_latency->reports)
            add_placeholders(report.uri);
    }
    return text = wire::hls::write_media_playlist(playlist);
}

std::optional<std::string> Rendition::playlist_text(SegmentList::Form form, std::string_view query) {
    if (list_.empty())
        return std::nullopt;
    const auto is_room = [](char letter) { return letter == kPlaceholder || letter == kRoomBeforeQuery; };
    const std::string added = query.empty() ? "" : "?" + std::string(query);
    const std::string before_query = added.empty() ? "?" : added + "&";
    std::string_view rest = rendered(form);
    std::string text;
    text.reserve(rest.size());
    while (!rest.empty()) {
        const auto end = static_cast<std::size_t>(std::ranges::find_if(rest, is_room) - rest.begin());
        text += rest.substr(0, end);
        if (end < rest.size())
            text += rest[end] == kPlaceholder ? added : before_query;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return text;
}

wire::hls::RenditionReport Rendition::report() const {
    wire::hls::RenditionReport report;
    report.uri = names_.uri_of(names_.playlist_url());
    report.last_segment = list_.next_number() - (list_.has_open() || list_.next_number() == 0 ? 0 : 1);
    const ListedSegment* last = list_.find(report.last_segment);
    if (last != nullptr && !last->parts.empty())
        report.last_part = last->parts.size() - 1;
    return report;
}

wire::hls::Variant Rendition::variant() const {
    std::uint64_t most = 0;
    std::uint64_t bits = 0;
    double seconds = 0;
    const auto count = [&](std::size_t bytes, MediaTime duration) {
        const double length = std::chrono::duration<double>(duration).count();
        if (bytes == 0 || length <= 0)
            return;
        const std::uint64_t size = 8 * std::uint64_t{bytes};
        most = std::max(most, static_cast<std::uint64_t>(static_cast<double>(size) / length));
        bits += size;
        seconds += length;
    };
    for (const ListedSegment& segment : list_.listed())
        count(segment.bytes, segment.duration);
    // Before the first segment: its parts so far, as one.
    if (bits == 0 && list_.has_open()) {
        MediaTime length{};
        std::size_t bytes = 0;
        for (const ListedPart& part : list_.open()->parts) {
            length += part.duration;
            bytes += part.file->bytes();
        }
        count(bytes, length);
    }
    const auto average = seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(bits) / seconds) : 0;
    wire::hls::Variant variant;
    variant.bandwidth = std::max<std::uint64_t>(most, 1);
    variant.average_bandwidth = std::max<std::uint64_t>(average, 1);
    return variant;
}

}  // namespace live::service::hls
