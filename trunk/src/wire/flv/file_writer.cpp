#include "wire/flv/file_writer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "wire/amf/amf0.hpp"

namespace live::wire::flv {

namespace {

constexpr std::string_view kEventName = "onMetaData";
constexpr const char* kFillerKey = "filler";
// Keys set by the writer, replacing the publisher's.
constexpr std::string_view kOwnKeys[] = {"duration", "filesize", "lasttimestamp", "lastkeyframetimestamp", "hasKeyframes",
                                         "hasVideo", "hasAudio", "keyframes",     "canSeekToEnd",          kFillerKey};

double seconds(std::uint32_t ms) { return ms / 1'000.0; }

// The values of an onMetaData message as an ECMA array.
amf::Value values_of(Bytes message) {
    amf::Value values = amf::Value::ecma_array();
    ByteReader in(message);
    const auto name = amf::read_amf0(in);
    if (!name.ok() || name->string() != kEventName)
        return values;
    const auto sent = amf::read_amf0(in);
    if (!sent.ok() || !(sent->is(amf::Kind::object) || sent->is(amf::Kind::ecma_array)))
        return values;
    for (const auto& member : sent->members())
        if (std::find(std::begin(kOwnKeys), std::end(kOwnKeys), member.key) == std::end(kOwnKeys))
            values.set(member.key, member.value);
    return values;
}

}  // namespace

FileWriter::FileWriter(Bytes metadata, std::string_view service, ByteWriter& out) : metadata_(values_of(metadata)) {
    metadata_.set(kServiceKey, service);
    const auto bytes = beginning();
    out.bytes(bytes);
    position_ = bytes.size();
}

FileWriter FileWriter::resumed(Bytes metadata) {
    FileWriter writer(values_of(metadata));
    writer.position_ = writer.beginning().size();
    return writer;
}

// The size is constant: a filler takes the space that the index does not use.
std::vector<std::uint8_t> FileWriter::beginning() const {
    amf::Value values = metadata_;
    values.set("duration", seconds(last_ms_));
    values.set("filesize", static_cast<double>(position_));
    values.set("lasttimestamp", seconds(last_ms_));
    values.set("lastkeyframetimestamp", seconds(last_key_ms_));
    values.set("hasVideo", has_video_);
    values.set("hasAudio", has_audio_);
    values.set("hasKeyframes", !index_.empty());
    amf::Value positions = amf::Value::strict_array();
    amf::Value times = amf::Value::strict_array();
    for (const KeyFrame& key : index_) {
        positions.append("", static_cast<double>(key.position));
        times.append("", seconds(key.ms));
    }
    amf::Value index = amf::Value::object();
    index.set("filepositions", std::move(positions));
    index.set("times", std::move(times));
    values.set("keyframes", std::move(index));
    // The filler is a list because some players limit strings more than lists.
    amf::Value filler = amf::Value::strict_array();
    for (std::size_t i = index_.size(); i < kIndexMax; ++i) {
        filler.append("", 0);
        filler.append("", 0);
    }
    values.set(kFillerKey, std::move(filler));
    ByteWriter body;
    amf::write_amf0(body, kEventName);
    amf::write_amf0(body, values);
    ByteWriter out;
    // A new recording is assumed to contain both.
    const bool is_new = tags_ == 0;
    write_file_header(out, {.has_audio = is_new || has_audio_, .has_video = is_new || has_video_});
    write_tag(out, TagType::script, 0, body.written());
    return out.release();
}

void FileWriter::write(TagType type, std::uint32_t timestamp_ms, Bytes body, Index index, ByteWriter& out, Bytes body_header) {
    const std::size_t before = out.size();
    write_tag(out, type, timestamp_ms, body, body_header);
    account(type, timestamp_ms, out.size() - before, index);
}

void FileWriter::account(TagType type, std::uint32_t timestamp_ms, std::uint64_t tag_bytes, Index index) {
    if (index == Index::yes)
        add_key_frame(timestamp_ms);
    position_ += tag_bytes;
    if (type == TagType::script)
        return;
    (type == TagType::audio ? has_audio_ : has_video_) = true;
    last_ms_ = std::max(last_ms_, timestamp_ms);
    ++tags_;
}

void FileWriter::add_key_frame(std::uint32_t ms) {
    last_key_ms_ = ms;
    if (key_frames_++ % stride_ != 0)
        return;
    if (index_.size() == kIndexMax) {
        for (std::size_t i = 0; i < kIndexMax / 2; ++i)
            index_[i] = index_[2 * i];
        index_.resize(kIndexMax / 2);
        stride_ *= 2;
    }
    index_.push_back({position_, ms});
}

void FileWriter::forget_behind(std::uint64_t end) {
    position_ = std::min(position_, end);
    std::erase_if(index_, [end](const KeyFrame& key) { return key.position >= end; });
}

FilePatch FileWriter::finish() const { return {.offset = 0, .bytes = beginning()}; }

}  // namespace live::wire::flv
