// Arbitrary frames, with or without a valid start, through the sample reader into both kinds of file. The strict reader of the
// tests must accept the output, with every sample in it. The input is a list of frames: a byte for the kind and the time step,
// two bytes of length, the frame.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/media_fixture.hpp"
#include "wire/mp4/movie_writer.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace {

using namespace live;
using namespace live::wire::mp4;
namespace codec = live::wire::codec;

class Files {
public:
    Files() { movie_.begin(movie_bytes_); }

    void push(const TrackFormat& format, const Sample& sample) {
        const std::size_t track = format.kind == MediaKind::audio ? 1 : 0;
        if (tracks_[track] != format) {
            finish_fragments();
            tracks_[track] = format;
            movie_tracks_[track].reset();
            if (const auto added = movie_.add_track(format); added.ok())
                movie_tracks_[track] = *added;
        }
        if (movie_tracks_[track] && movie_.push(*movie_tracks_[track], sample).ok())
            ++movie_samples_[*movie_tracks_[track]];
        if (!writer_) {
            std::vector<TrackFormat> formats;
            for (const auto& known : tracks_)
                if (known)
                    formats.push_back(*known);
            writer_.emplace(std::move(formats));
        }
        CHECK(writer_->push(track == 1 && tracks_[0] ? 1 : 0, sample).ok());
        ++fragment_samples_;
    }
    void cut(MediaTime next) {
        if (writer_)
            writer_->cut(fragments_, FragmentWriter::Next{.track = 0, .dts = next});
        movie_.flush(movie_bytes_);
    }
    void finish() {
        finish_fragments();
        movie_.flush(movie_bytes_);
        static_cast<void>(fragment_samples(movie_bytes_.written()));  // as left by a killed process
        const FilePatch patch = movie_.finish(movie_bytes_);
        auto bytes = movie_bytes_.release();
        std::copy(patch.bytes.begin(), patch.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(patch.offset));
        const auto tracks = read_file(bytes).child("moov").all("trak");
        CHECK(tracks.size() == movie_samples_.size());
        auto expected = movie_samples_.begin();
        const TestBox file = read_file(bytes);
        for (const TestBox* track : file.child("moov").all("trak"))
            CHECK(movie_samples(bytes, *track).size() == (expected++)->second);
    }

private:
    void finish_fragments() {
        if (!writer_)
            return;
        ByteWriter init;
        writer_->write_init(init);
        static_cast<void>(read_file(init.written()));
        writer_->cut(fragments_);
        std::size_t count = 0;
        for (const auto& [id, samples] : fragment_samples(fragments_.written()))
            count += samples.size();
        CHECK(count == fragment_samples_);
        fragments_.release();
        fragment_samples_ = 0;
        writer_.reset();
    }

    std::optional<TrackFormat> tracks_[2];
    std::optional<std::size_t> movie_tracks_[2];
    std::optional<FragmentWriter> writer_;
    ByteWriter fragments_;
    std::size_t fragment_samples_ = 0;
    MovieWriter movie_;
    ByteWriter movie_bytes_;
    std::map<std::size_t, std::size_t> movie_samples_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ByteReader in(Bytes(data, size));
    SampleReader reader;
    Files files;
    MediaTime time{};
    if (size > 0 && data[0] % 4 == 0)
        CHECK(reader.push_video(avc_config()).ok() && reader.push_audio(aac_config()).ok());
    while (!in.at_end()) {
        const auto what = in.u8();
        const auto length = in.u16be();
        if (!what.ok() || !length.ok())
            break;
        codec::Frame frame = codec::frames::any(MUST(in.take(std::min<std::size_t>(*length, in.remaining()))));
        time += std::chrono::milliseconds(*what / 2);
        frame.dts = time;
        const bool is_video = *what % 2 == 0;
        auto sample = is_video ? reader.push_video(frame) : reader.push_audio(frame);
        if (sample.ok() && sample->has_value()) {
            const auto& format = is_video ? reader.video() : reader.audio();
            CHECK(format.has_value());
            files.push(*format, **sample);
        }
        if (*what % 16 == 15)
            files.cut(time);
    }
    files.finish();
    return 0;
}
