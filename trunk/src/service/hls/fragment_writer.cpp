#include "service/hls/fragment_writer.hpp"

#include <utility>

#include "wire/http/target.hpp"

namespace live::service::hls {

FragmentWriter::FragmentWriter(Setup setup, const Names& names) : setup_(std::move(setup)), names_(names) {
    if (setup_.options.keys)
        keys_.emplace(Keys::Setup{setup_.options, setup_.url, names_, setup_.disk, setup_.store, setup_.stream});
}

void FragmentWriter::begin_publisher(const session::ClientRequest& publisher) {
    publisher_ = publisher;
    setup_.disk.begin_publisher(publisher.is_sibling);
}

Result<void> FragmentWriter::seal(segments::SegmentMade& made, std::uint64_t number, io::Deadline deadline) {
    if (!keys_)
        return {};
    TRY(keys_->begin_segment(number));
    for (segments::Piece& piece : made.pieces)
        piece.blocks = TRY(keys_->encrypt(std::move(piece.blocks), deadline));
    return {};
}

void FragmentWriter::write(Rendition& rendition, const ListedSegment& segment) {
    if (segment.absent)
        return;
    const auto written = [this, names = &rendition.names(), number = segment.number, duration = segment.duration,
                          name = segment.name] {
        setup_.events.on_fragment({publisher_, setup_.name.vhost, setup_.url, duration, names->reported_path(name.text), name.uri,
                                   names->reported_path(names->playlist_url()),
                                   wire::http::percent_encode_path(names->playlist_url()), number});
    };
    const auto failed = [&rendition, number = segment.number] { rendition.mark_gap(number); };
    setup_.disk.write(segment.name.file, segment.file->blocks(), written, failed);
}

void FragmentWriter::write_master(const std::string& text) {
    if (text != master_)
        setup_.disk.write_list(names_.playlist_file(), master_ = text);
}

void FragmentWriter::reset() {
    master_.clear();
    if (keys_)
        keys_->reset();
}

}  // namespace live::service::hls
