#include "wire/flv/file_writer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/bytes/hash.hpp"
#include "wire/amf/amf0.hpp"
#include "wire/flv/audio_tag.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::wire::flv {

namespace {

constexpr std::string_view kEventName = "onMetaData";
constexpr const char* kFillerKey = "filler";
// Keys set by the writer, replacing the publisher's.
constexpr std::string_view kOwnKeys[] = {"duration",     "filesize",      "lasttimestamp",   "lastkeyframetimestamp",
                                         "hasKeyframes", "hasVideo",      "hasAudio",        "keyframes",
                                         "canSeekToEnd", "hasAllFormats", "formatpositions", kFillerKey};

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

// Places in the file, in order, up to the first zero; empty if one is out of order.
std::vector<std::uint64_t> positions_in(const amf::Value* list, std::uint64_t file_bytes) {
    std::vector<std::uint64_t> positions;
    if (list == nullptr)
        return positions;
    for (const amf::Value::Member& member : list->members()) {
        const double number = member.value.number().value_or(-1);
        if (number == 0)
            break;
        const double least = positions.empty() ? 1.0 : static_cast<double>(positions.back()) + 1;
        if (!(number >= least && number < static_cast<double>(file_bytes)))
            return {};
        positions.push_back(static_cast<std::uint64_t>(number));
    }
    return positions;
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
    for (const FileIndex::KeyFrame& key : index_) {
        positions.append("", static_cast<double>(key.position));
        times.append("", seconds(key.ms));
    }
    amf::Value index = amf::Value::object();
    index.set("filepositions", std::move(positions));
    index.set("times", std::move(times));
    values.set("keyframes", std::move(index));
    values.set("hasAllFormats", has_all_formats_ && tags_ > 0);
    amf::Value formats = amf::Value::strict_array();
    for (std::size_t i = 0; i < kFormatsMax; ++i)
        formats.append("", i < format_positions_.size() ? static_cast<double>(format_positions_[i]) : 0.0);
    values.set("formatpositions", std::move(formats));
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
    const Bytes tag = out.written().subspan(before);
    account(type, timestamp_ms, tag.size(), index, tag.subspan(kTagHeaderBytes, body_header.size() + body.size()));
}

void FileWriter::account(TagType type, std::uint32_t timestamp_ms, std::uint64_t tag_bytes, Index index, Bytes body) {
    if (index == Index::yes)
        add_key_frame(timestamp_ms);
    note_format(type, body, tag_bytes == kTagHeaderBytes + body.size() + kTagSizeBytes);
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

// A repeated configuration changes nothing. Tags of several tracks and others that cannot be read have no format of their own.
void FileWriter::note_format(TagType type, Bytes body, bool is_whole) {
    Format found{type, Codec::none, 0};
    bool is_config = false;
    if (type == TagType::video) {
        const auto tag = parse_video_tag(body);
        if (!tag.ok() || tag->has_more ||
            !(tag->kind == PacketKind::sequence_header || (tag->kind == PacketKind::frames && tag->key)))
            return;
        is_config = tag->kind == PacketKind::sequence_header;
        found = {type, tag->codec, tag->track_id};
    } else if (type == TagType::audio) {
        const auto tag = parse_audio_tag(body);
        if (!tag.ok() || tag->has_more || !(tag->kind == PacketKind::sequence_header || tag->kind == PacketKind::frames))
            return;
        is_config = tag->kind == PacketKind::sequence_header;
        found = {type, tag->codec, tag->track_id};
    } else {
        return;
    }
    const auto known = std::ranges::find_if(formats_, [&found](const Format& one) {
        return one.type == found.type && one.codec == found.codec && one.track == found.track;
    });
    const std::uint64_t config = is_config ? fnv1a(body) : 0;
    if (known != formats_.end() && (!is_config || (is_whole && known->config == config)))
        return;
    if (format_positions_.size() == kFormatsMax) {
        has_all_formats_ = false;
        return;
    }
    format_positions_.push_back(position_);
    found.config = config;
    if (known == formats_.end())
        formats_.push_back(found);
    else
        known->config = config;
}

std::optional<FileIndex> read_file_index(Bytes metadata, std::uint64_t file_bytes) {
    ByteReader in(metadata);
    const auto name = amf::read_amf0(in);
    if (!name.ok() || name->string() != kEventName)
        return std::nullopt;
    const auto values = amf::read_amf0(in);
    if (!values.ok())
        return std::nullopt;
    const amf::Value* const is_complete = values->find("hasAllFormats");
    const amf::Value* const size = values->find("filesize");
    if (is_complete == nullptr || !is_complete->boolean().value_or(false) || size == nullptr ||
        size->number() != static_cast<double>(file_bytes))
        return std::nullopt;
    FileIndex index;
    index.formats = positions_in(values->find("formatpositions"), file_bytes);
    if (index.formats.empty())
        return std::nullopt;
    const amf::Value* const keys = values->find("keyframes");
    const amf::Value* const times = keys == nullptr ? nullptr : keys->find("times");
    const auto positions = positions_in(keys == nullptr ? nullptr : keys->find("filepositions"), file_bytes);
    if (times == nullptr || times->members().size() != positions.size())
        return index;
    constexpr double kMillis = 1'000;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const double ms = times->members()[i].value.number().value_or(-1) * kMillis;
        if (ms >= 0 && ms <= std::numeric_limits<std::uint32_t>::max())
            index.key_frames.push_back({positions[i], static_cast<std::uint32_t>(std::lround(ms))});
    }
    return index;
}

void FileWriter::forget_behind(std::uint64_t end) {
    position_ = std::min(position_, end);
    std::erase_if(index_, [end](const FileIndex::KeyFrame& key) { return key.position >= end; });
    std::erase_if(format_positions_, [end](std::uint64_t position) { return position >= end; });
}

FilePatch FileWriter::finish() const { return {.offset = 0, .bytes = beginning()}; }

}  // namespace live::wire::flv
