#include "wire/mp4/read/table_encoder.hpp"

#include <algorithm>
#include <limits>

namespace live::wire::mp4 {

void TableEncoder::put(std::uint32_t value) {
    if (out_ != nullptr)
        out_->u32be(value);
}

void TableEncoder::extend(std::uint32_t value, std::uint32_t count) {
    if (run_.count > 0 && run_.value != value)
        end_run();
    run_.value = value;
    run_.count += count;
}

void TableEncoder::end_run() {
    if (run_.count == 0)
        return;
    put(run_.count);
    put(run_.value);
    ++entries_;
    run_ = {};
}

void TableEncoder::begin_chunk(std::size_t file, std::uint64_t offset) {
    ++chunk_.number;
    if (table_ != Table::offsets)
        return;
    ++entries_;
    if (out_ == nullptr)
        return;
    const std::uint64_t place = (*place_of_)(file, offset);
    if (is_far_)
        out_->u64be(place);
    else
        out_->u32be(static_cast<std::uint32_t>(place));
}

void TableEncoder::end_chunk() {
    if (table_ != Table::chunks || chunk_.samples == 0)
        return;
    if (chunk_.samples != chunk_.last_samples || chunk_.entry != chunk_.last_entry) {
        put(chunk_.number);
        put(chunk_.samples);
        put(chunk_.entry + 1);
        ++entries_;
    }
    chunk_.last_samples = chunk_.samples;
    chunk_.last_entry = chunk_.entry;
    chunk_.samples = 0;
}

// The samples of a fragment that follow each other are one chunk.
void TableEncoder::add_to_chunk(std::size_t file, std::uint32_t entry, const ExcerptSample& sample, bool is_first) {
    if (is_first || sample.offset != chunk_.end) {
        end_chunk();
        begin_chunk(file, sample.offset);
        chunk_.entry = entry;
    }
    ++chunk_.samples;
    chunk_.end = sample.offset + sample.bytes;
}

void TableEncoder::add(std::size_t file, const ExcerptPiece::Track& track) {
    constexpr std::int64_t kTicksMax = std::numeric_limits<std::uint32_t>::max();
    bool is_first = true;
    for (const ExcerptSample& sample : track.samples) {
        ++samples_;
        switch (table_) {
            case Table::times:
                if (waiting_)
                    extend(static_cast<std::uint32_t>(std::clamp<std::int64_t>(sample.tick - waiting_->tick, 0, kTicksMax)));
                waiting_ = sample;
                break;
            case Table::compositions: extend(static_cast<std::uint32_t>(sample.composition)); break;
            case Table::keys:
                if (sample.key) {
                    put(samples_);
                    ++entries_;
                }
                break;
            case Table::sizes:
                put(sample.bytes);
                ++entries_;
                break;
            case Table::chunks:
            case Table::offsets: add_to_chunk(file, track.entry, sample, is_first); break;
        }
        is_first = false;
    }
}

void TableEncoder::finish() {
    if (waiting_)
        extend(waiting_->ticks);
    end_run();
    end_chunk();
}

}  // namespace live::wire::mp4
