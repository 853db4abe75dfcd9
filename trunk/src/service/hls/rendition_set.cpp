#include "service/hls/rendition_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log/log_format.hpp"
#include "service/hls/master_playlist.hpp"
#include "service/segments/segment_sync.hpp"

namespace live::service::hls {

RenditionSet::RenditionSet(Setup setup, const ListRules& rules) : setup_(std::move(setup)), rules_(rules) {
    all_.push_back(std::make_unique<Rendition>(setup_.shared, Names(setup_.shared.options, setup_.name, setup_.zone), rules_));
    put_in_index();
}

void RenditionSet::put_in_index() { setup_.index.add(together().names().playlist_file(), {&setup_.output, nullptr}); }

void RenditionSet::begin_tracks() {
    together().set_container(Container::fmp4);
    together().retire();
    current_.clear();
    is_by_track_ = true;
}

bool RenditionSet::is_listed(const Rendition& rendition) const {
    const IndexedPlaylist* playlist = setup_.index.find(rendition.names().playlist_file());
    return playlist != nullptr && playlist->output == &setup_.output;
}

std::vector<Rendition*> RenditionSet::active() const {
    std::vector<Rendition*> active;
    for (const auto& rendition : all_)
        if (rendition->names().track().empty() != is_by_track_ && is_listed(*rendition))
            active.push_back(rendition.get());
    return active;
}

// Returns the list whose position the others take.
const SegmentList& RenditionSet::peer() const {
    const auto others = active();
    return others.empty() ? together().list() : others.front()->list();
}

std::uint64_t RenditionSet::next_listed() const { return peer().next_number(); }

std::optional<std::uint64_t> RenditionSet::first_listed() const {
    const auto& listed = peer().listed();
    return listed.empty() ? std::nullopt : std::optional(listed.front().number);
}

namespace {

constexpr std::size_t kOfAll = 2;
constexpr std::size_t kOfOne = 3;

}  // namespace

std::size_t RenditionSet::place_size(const segments::SegmentState& begins) {
    return kOfAll + kOfOne * segments::representations_of(begins).size();
}

// Two numbers for all renditions, the segment's and the discontinuities before it, then three numbers per representation.
std::vector<std::uint64_t> RenditionSet::place_of(const segments::SegmentState& begins) const {
    std::vector<std::uint64_t> place = {peer().next_number(), peer().discontinuities_before_next()};
    for (const segments::RepresentationId& id : segments::representations_of(begins)) {
        const auto is_its = [&id](const auto& one) { return one->names().track() == id.name(); };
        const auto found = std::ranges::find_if(all_, is_its);
        const Rendition::Place at = found == all_.end() ? Rendition::Place() : (*found)->place();
        place.insert(place.end(), {at.inits, at.init_hash, static_cast<std::uint64_t>(at.usual_part.count())});
    }
    return place;
}

void RenditionSet::align(const segments::SegmentState& begins, const std::vector<std::uint64_t>& place, MediaTime missing) {
    const auto ids = segments::representations_of(begins);
    if (place.size() < kOfAll + kOfOne * ids.size())
        return;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        Rendition* rendition = begins.by_track ? find_or_make(ids[i]) : &together();
        const auto at = place.begin() + static_cast<std::ptrdiff_t>(kOfAll + kOfOne * i);
        const auto part = MediaTime(static_cast<std::int64_t>(std::min<std::uint64_t>(at[2], segments::SegmentSync::kNumberMax)));
        if (rendition != nullptr)
            rendition->align(place[0], place[1], {at[0], at[1], part}, missing);
    }
}

void RenditionSet::drop_open() {
    for (Rendition* rendition : active())
        rendition->drop_open();
}

Rendition* RenditionSet::find_or_make(const segments::RepresentationId& id) {
    const std::string name = id.name();
    const auto is_it = [&name](const auto& rendition) { return rendition->names().track() == name; };
    auto found = std::ranges::find_if(all_, is_it);
    if (found != all_.end() && is_listed(**found))
        return found->get();
    const std::uint64_t next = peer().next_number();
    const std::uint64_t discontinuities = peer().discontinuities_before_next();
    if (found == all_.end()) {
        Names names(setup_.shared.options, setup_.name, setup_.zone, name);
        names.set_container(Container::fmp4);
        all_.push_back(std::make_unique<Rendition>(setup_.shared, std::move(names), rules_));
        found = all_.end() - 1;
    }
    Rendition& rendition = **found;
    if (!claim(rendition.names()))
        return nullptr;
    rendition.recover({}, next, discontinuities);
    setup_.index.add(rendition.names().playlist_file(), {&setup_.output, &rendition});
    return &rendition;
}

bool RenditionSet::claim(const Names& names) {
    auto claimed = setup_.claims.claim(names.claimed_paths(), "the HLS of " + setup_.url);
    if (claimed.ok())
        claims_.push_back(*std::move(claimed));
    else if (!std::exchange(claims_logged_, true))
        LOG_ERROR(setup_.log, "HLS {}: dropping a track: {}", setup_.url, claimed.error().sentence());
    return claimed.ok();
}

void RenditionSet::add(const segments::HeadersChanged& made) {
    current_.clear();
    ids_.clear();
    for (const segments::Header& header : made.headers) {
        Rendition* rendition = is_by_track_ ? find_or_make(header.id) : &together();
        if (rendition != nullptr)
            rendition->set_header(header);
        current_.push_back(rendition);
        ids_.push_back(header.id);
    }
}

void RenditionSet::add(const segments::PartMade& made) {
    for (std::size_t i = 0; i < made.pieces.size(); ++i)
        if (current_[i] != nullptr)
            current_[i]->add(made, made.pieces[i]);
}

std::optional<std::uint64_t> RenditionSet::next_number() const {
    const auto leading = std::ranges::find_if(current_, [](const Rendition* one) { return one != nullptr; });
    return leading == current_.end() ? std::nullopt : std::optional((*leading)->list().next_number());
}

void RenditionSet::add(const segments::SegmentMade& made, const Keys* keys, const Listed& listed) {
    const auto number = next_number();
    share_bytes();
    for (std::size_t i = 0; i < made.pieces.size(); ++i)
        if (current_[i] != nullptr)
            listed(*current_[i], current_[i]->add(made, made.pieces[i], keys));
    for (Rendition* rendition : active())
        if (rendition->list().next_number() == number)
            rendition->add_absent(made.duration, made.discontinuity);
}

// Each rendition may use the memory that the others do not.
void RenditionSet::share_bytes() {
    const auto renditions = active();
    const std::uint64_t most = setup_.shared.options.window_bytes;
    std::size_t all = 0;
    for (const Rendition* rendition : renditions)
        all += rendition->bytes();
    for (Rendition* rendition : renditions)
        rendition->set_bytes_max(most - std::min<std::uint64_t>(most, all - rendition->bytes()));
}

void RenditionSet::set_ended(bool ended) {
    for (Rendition* rendition : active())
        rendition->set_ended(ended);
}

void RenditionSet::changed(bool has_reports) {
    for (const auto& rendition : all_)
        rendition->forget_text();
    if (!has_reports || !is_by_track_)
        return;
    const auto renditions = active();
    for (Rendition* rendition : renditions) {
        std::vector<wire::hls::RenditionReport> reports;
        for (const Rendition* other : renditions)
            if (other != rendition && !other->list().empty())
                reports.push_back(other->report());
        rendition->set_reports(std::move(reports));
    }
}

void RenditionSet::write_lists() {
    for (Rendition* rendition : active())
        rendition->write_list();
}

std::vector<std::string> RenditionSet::clean_up() {
    std::vector<std::string> paths;
    for (Rendition* rendition : active())
        rendition->clean_up(paths);
    return paths;
}

std::vector<std::string> RenditionSet::take_all() {
    std::vector<std::string> paths;
    for (const auto& rendition : all_) {
        setup_.index.remove(rendition->names().playlist_file(), setup_.output);
        std::ranges::move(rendition->take_all(), std::back_inserter(paths));
    }
    current_.clear();
    if (std::exchange(is_by_track_, false))
        together().set_container(setup_.shared.options.use_fmp4 == Fmp4::on ? Container::fmp4 : Container::ts);
    return paths;
}

std::optional<std::string> RenditionSet::master_text(const media::Source& source, const UriOf& uri_of,
                                                     const std::vector<wire::hls::Rendition>& subtitles) const {
    std::vector<TrackPlaylist> tracks;
    for (std::size_t i = 0; i < current_.size(); ++i)
        if (current_[i] != nullptr && !current_[i]->list().empty())
            tracks.push_back({current_[i], ids_[i], ids_[i].track_of(source), uri_of(current_[i]->names())});
    return tracks.empty() ? std::nullopt : std::optional(write_master(tracks, source, subtitles));
}

bool RenditionSet::awaits_some(const media::Source& source) const {
    const media::Publications& publications = source.publications();
    const auto& relayed = publications.rendition_names();
    const media::RenditionMaker* const maker = publications.rendition_maker();
    if ((maker == nullptr && !publications.relays_renditions()) || !is_by_track_)
        return false;
    std::size_t listed = 0;
    for (std::size_t i = 0; i < current_.size(); ++i) {
        const media::Track* const track = ids_[i].track_of(source);
        const bool is_rendition =
            track != nullptr && (maker != nullptr ? track->rendition != media::RenditionId::none
                                                  : track->kind == MediaKind::video && ids_[i].extra &&
                                                        std::ranges::find(relayed, track->name) != relayed.end());
        listed += is_rendition && current_[i] != nullptr && !current_[i]->list().empty() ? 1 : 0;
    }
    return listed < (maker != nullptr ? maker->due_renditions() : relayed.size());
}

bool RenditionSet::has_playlist() const {
    return std::ranges::any_of(active(), [](const Rendition* rendition) { return !rendition->list().empty(); });
}

bool RenditionSet::has_segment() const {
    return std::ranges::any_of(active(), [](const Rendition* rendition) { return !rendition->list().listed().empty(); });
}

bool RenditionSet::has_hint() const {
    return std::ranges::any_of(active(), [](const Rendition* rendition) { return !rendition->list().hint().empty(); });
}

bool RenditionSet::is_cut_by_bytes() const {
    return std::ranges::any_of(active(), [](const Rendition* rendition) { return rendition->list().is_cut_by_bytes(); });
}

MediaTime RenditionSet::target_duration() const {
    MediaTime target = together().list().target_duration();
    for (const Rendition* rendition : active())
        target = std::max(target, rendition->list().target_duration());
    return target;
}

std::size_t RenditionSet::bytes() const {
    std::size_t sum = 0;
    for (const auto& rendition : all_)
        sum += rendition->bytes();
    return sum;
}

bool RenditionSet::has_open() const {
    return std::ranges::any_of(all_, [](const auto& rendition) { return rendition->list().has_open(); });
}

}  // namespace live::service::hls
