#include "session/http/flv_start.hpp"

#include "base/bytes/byte_writer.hpp"
#include "wire/flv/audio_tag.hpp"
#include "wire/flv/flv_file.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::session::http {

namespace {

using namespace wire::flv;

// Sequence headers precede their frames, so they are among the first tags.
constexpr int kTagsMax = 64;

bool is_sequence_header(const Tag& tag) {
    if (tag.header.type == TagType::video) {
        const auto video = parse_video_tag(tag.body.bytes());
        return video.ok() && video->kind == PacketKind::sequence_header;
    }
    const auto audio = parse_audio_tag(tag.body.bytes());
    return audio.ok() && audio->kind == PacketKind::sequence_header;
}

}  // namespace

std::vector<std::uint8_t> flv_preamble(Bytes begin) {
    ByteWriter out;
    FlvReader reader(FlvReader::Limits{.tag_bytes = kFlvBeginBytes});
    bool has_metadata = false;
    bool has_audio = false;
    bool has_video = false;
    for (int tags = 0; !begin.empty() && tags < kTagsMax && !(has_audio && has_video);) {
        const auto used = reader.feed(begin);
        if (!used.ok())
            break;
        begin = begin.subspan(*used);
        if (out.size() == 0 && reader.file_header())
            write_file_header(out, *reader.file_header());
        const auto tag = reader.next();
        if (!tag)
            continue;
        ++tags;
        bool& has = tag->header.type == TagType::script  ? has_metadata
                    : tag->header.type == TagType::audio ? has_audio
                                                         : has_video;
        if (has || (tag->header.type != TagType::script && !is_sequence_header(*tag)))
            continue;
        has = true;
        write_tag(out, tag->header.type, 0, tag->body.bytes());
    }
    return out.release();
}

}  // namespace live::session::http
