#include "service/hls/text_renditions.hpp"

#include <iterator>
#include <utility>

#include "base/log/log_format.hpp"

namespace live::service::hls {

// A language begins with the next segment.
void TextRenditions::make_missing(const SegmentList& video) {
    while (all_.size() < lines_.languages().size()) {
        const std::string& language = lines_.languages()[all_.size()];
        const std::string track = std::string(kTextTrack) + (language.empty() ? "" : "-") + language;
        Names names(setup_.shared.options, setup_.name, setup_.zone, track);
        names.set_container(Container::webvtt);
        auto claimed = setup_.claims.claim(names.claimed_paths(), "the HLS of " + setup_.url);
        if (claimed.ok())
            claims_.push_back(*std::move(claimed));
        else
            LOG_ERROR(setup_.log, "HLS {}: not listing subtitles: {}", setup_.url, claimed.error().sentence());
        Rendition& rendition = *all_.emplace_back(std::make_unique<Rendition>(setup_.shared, std::move(names), rules_));
        rendition.recover({}, video.next_number(), video.discontinuities_before_next());
        if (claimed.ok())
            setup_.index.add(rendition.names().playlist_file(), {&setup_.output, &rendition});
    }
}

void TextRenditions::add(const segments::SegmentMade& made, const Rendition& beside) {
    const SegmentList& video = beside.list();
    make_missing(video);
    for (std::size_t i = 0; i < all_.size(); ++i) {
        Rendition& rendition = *all_[i];
        if (rendition.list().next_number() != video.next_number())
            rendition.align(video.next_number(), video.discontinuities_before_next(), {}, made.duration);
        const std::string text = lines_.segment(lines_.languages()[i], made.start, made.duration, beside.names().container());
        segments::Piece piece;
        piece.blocks.push_back(std::make_shared<const std::vector<std::uint8_t>>(text.begin(), text.end()));
        piece.bytes = text.size();
        const ListedSegment& listed = rendition.add(made, piece, nullptr);
        setup_.shared.disk.write(listed.name.file, listed.file->blocks());
    }
    lines_.forget_before(made.start + made.duration);
}

void TextRenditions::set_ended(bool ended) {
    for (const auto& rendition : all_)
        rendition->set_ended(ended);
}

void TextRenditions::write_lists() {
    for (const auto& rendition : all_)
        rendition->write_list();
}

void TextRenditions::clean_up(std::vector<std::string>& paths) {
    for (const auto& rendition : all_)
        rendition->clean_up(paths);
}

void TextRenditions::take_all(std::vector<std::string>& paths) {
    for (const auto& rendition : all_) {
        setup_.index.remove(rendition->names().playlist_file(), setup_.output);
        std::ranges::move(rendition->take_all(), std::back_inserter(paths));
    }
}

std::size_t TextRenditions::bytes() const {
    std::size_t sum = lines_.bytes();
    for (const auto& rendition : all_)
        sum += rendition->bytes();
    return sum;
}

std::vector<wire::hls::Rendition> TextRenditions::media(const RenditionSet::UriOf& uri_of) const {
    std::vector<wire::hls::Rendition> entries;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const std::string& language = lines_.languages()[i];
        if (!all_[i]->list().empty())
            entries.push_back({uri_of(all_[i]->names()), "subs", language.empty() ? "text" : language, language, false});
    }
    return entries;
}

}  // namespace live::service::hls
