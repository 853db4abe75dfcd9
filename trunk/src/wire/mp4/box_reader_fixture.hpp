// Parses our MP4 files for tests: strict, and written from ISO/IEC 14496-12, not from the writers. Not for untrusted input:
// aborts on anything unexpected.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/check.hpp"

namespace live::wire::mp4 {

struct TestBox {
    std::string type;
    std::size_t offset = 0;  // offset of the box in the file
    std::vector<std::uint8_t> content;
    std::vector<TestBox> children;

    // The only child of that type.
    const TestBox& child(const std::string& wanted) const {
        const TestBox* found = nullptr;
        for (const TestBox& box : children)
            if (box.type == wanted) {
                CHECK(found == nullptr);
                found = &box;
            }
        CHECK(found != nullptr);
        return *found;
    }
    std::vector<const TestBox*> all(const std::string& wanted) const {
        std::vector<const TestBox*> found;
        for (const TestBox& box : children)
            if (box.type == wanted)
                found.push_back(&box);
        return found;
    }
    bool has(const std::string& wanted) const { return !all(wanted).empty(); }
};

inline std::vector<TestBox> read_boxes(Bytes bytes, std::size_t offset = 0) {
    static const std::string kContainers = "moov trak mdia minf dinf stbl mvex moof traf edts";
    std::vector<TestBox> boxes;
    for (ByteReader in(bytes); !in.at_end();) {
        TestBox box;
        box.offset = offset + in.position();
        std::uint64_t size = MUST(in.u32be());
        box.type = as_text(MUST(in.take(4)));
        if (size == 1)
            size = MUST(in.u64be());
        const std::size_t header = offset + in.position() - box.offset;
        CHECK(size >= header);
        const Bytes content = MUST(in.take(static_cast<std::size_t>(size) - header));
        box.content.assign(content.begin(), content.end());
        if (kContainers.find(box.type) != std::string::npos)
            box.children = read_boxes(content, box.offset + header);
        boxes.push_back(std::move(box));
    }
    return boxes;
}

inline TestBox read_file(Bytes bytes) {
    TestBox file;
    file.children = read_boxes(bytes);
    return file;
}

struct TestSample {
    std::uint64_t tick = 0;
    std::int64_t composition = 0;
    std::uint32_t ticks = 0;  // duration
    bool key = true;
    std::vector<std::uint8_t> data;

    bool operator==(const TestSample&) const = default;
};

// The content of a full box after version and flags.
struct TestFull {
    std::uint8_t version;
    std::uint32_t flags;
    ByteReader in;

    explicit TestFull(const TestBox& box) : version(0), flags(0), in(box.content) {
        version = MUST(in.u8());
        flags = MUST(in.u24be());
    }
};

// Samples of all fragments of `file` by track ID. Every byte of every mdat must belong to exactly one sample.
inline std::map<std::uint32_t, std::vector<TestSample>> fragment_samples(Bytes file) {
    std::map<std::uint32_t, std::vector<TestSample>> samples;
    const auto boxes = read_boxes(file);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        const TestBox& moof = boxes[i];
        if (moof.type != "moof")
            continue;
        CHECK(i + 1 < boxes.size() && boxes[i + 1].type == "mdat");
        const std::size_t media = boxes[i + 1].offset + 8;
        const std::size_t media_end = media + boxes[i + 1].content.size();
        for (const TestBox* traf : moof.all("traf")) {
            TestFull header(traf->child("tfhd"));
            CHECK((header.flags & ~0x2AU) == 0x20000);
            const auto id = MUST(header.in.u32be());
            if ((header.flags & 0x2) != 0)
                CHECK(MUST(header.in.u32be()) > 0);  // the sample entry
            const std::uint32_t all_ticks = (header.flags & 0x8) != 0 ? MUST(header.in.u32be()) : 0;
            const bool are_all_sync = (header.flags & 0x20) == 0;
            CHECK(are_all_sync || MUST(header.in.u32be()) == 0x01010000);
            CHECK(header.in.at_end());
            TestFull time(traf->child("tfdt"));
            CHECK(time.version == 1);
            std::uint64_t tick = MUST(time.in.u64be());
            for (const TestBox* trun : traf->all("trun")) {
                TestFull run(*trun);
                CHECK(run.version == 1 && (run.flags & 0x201) == 0x201 && (run.flags & ~0xF05U) == 0);
                const auto count = MUST(run.in.u32be());
                std::size_t at = moof.offset + MUST(run.in.u32be());
                CHECK(at >= media);
                CHECK((run.flags & 0x4) == 0 || MUST(run.in.u32be()) == 0x02000000);
                for (std::uint32_t k = 0; k < count; ++k) {
                    TestSample sample;
                    sample.tick = tick;
                    sample.ticks = (run.flags & 0x100) != 0 ? MUST(run.in.u32be()) : all_ticks;
                    const auto size = MUST(run.in.u32be());
                    sample.key = are_all_sync || (k == 0 && (run.flags & 0x4) != 0);
                    if ((run.flags & 0x400) != 0)
                        sample.key = MUST(run.in.u32be()) == 0x02000000;
                    if ((run.flags & 0x800) != 0)
                        sample.composition = static_cast<std::int32_t>(MUST(run.in.u32be()));
                    tick += sample.ticks;
                    CHECK(at + size <= media_end);
                    const Bytes data = file.subspan(at, size);
                    sample.data.assign(data.begin(), data.end());
                    at += size;
                    samples[id].push_back(std::move(sample));
                }
                CHECK(run.in.at_end());
            }
        }
    }
    return samples;
}

// Fills in the data of samples with the sizes `bytes`, using stsc and stco or co64.
inline void read_chunks(Bytes file, const TestBox& table, const std::vector<std::uint32_t>& bytes,
                        std::vector<TestSample>& samples) {
    struct Run {
        std::uint32_t first;
        std::uint32_t samples;
    };
    std::vector<Run> runs;
    TestFull chunks(table.child("stsc"));
    for (auto left = MUST(chunks.in.u32be()); left-- > 0;) {
        const auto first = MUST(chunks.in.u32be());
        runs.push_back({first, MUST(chunks.in.u32be())});
        CHECK(MUST(chunks.in.u32be()) > 0);  // the sample entry
    }
    const bool is_far = table.has("co64");
    TestFull offsets(table.child(is_far ? "co64" : "stco"));
    std::size_t at = 0;
    std::size_t run = 0;
    const auto chunk_count = MUST(offsets.in.u32be());
    for (std::uint32_t chunk = 1; chunk <= chunk_count; ++chunk) {
        while (run + 1 < runs.size() && runs[run + 1].first <= chunk)
            ++run;
        std::uint64_t offset = is_far ? MUST(offsets.in.u64be()) : MUST(offsets.in.u32be());
        for (std::uint32_t i = 0; i < runs.at(run).samples; ++i) {
            const auto size = bytes.at(at);
            if (offset + size <= file.size()) {
                const Bytes data = file.subspan(static_cast<std::size_t>(offset), size);
                samples.at(at).data.assign(data.begin(), data.end());
            }
            offset += size;
            ++at;
        }
    }
    CHECK(at == samples.size() && offsets.in.at_end());
}

// Samples of a track in a progressive file, in order.
inline std::vector<TestSample> movie_samples(Bytes file, const TestBox& track) {
    const TestBox& table = track.child("mdia").child("minf").child("stbl");
    std::vector<TestSample> samples;
    TestFull sizes(table.child("stsz"));
    CHECK(MUST(sizes.in.u32be()) == 0);
    const auto count = MUST(sizes.in.u32be());
    samples.resize(count);
    std::vector<std::uint32_t> bytes;
    for (std::uint32_t i = 0; i < count; ++i)
        bytes.push_back(MUST(sizes.in.u32be()));
    CHECK(sizes.in.at_end());
    TestFull times(table.child("stts"));
    std::size_t at = 0;
    std::uint64_t tick = 0;
    for (auto runs = MUST(times.in.u32be()); runs-- > 0;) {
        const auto run = MUST(times.in.u32be());
        const auto ticks = MUST(times.in.u32be());
        for (std::uint32_t i = 0; i < run; ++i) {
            samples.at(at).tick = tick;
            samples.at(at++).ticks = ticks;
            tick += ticks;
        }
    }
    CHECK(at == count && times.in.at_end());
    if (table.has("ctts")) {
        TestFull compositions(table.child("ctts"));
        at = 0;
        for (auto runs = MUST(compositions.in.u32be()); runs-- > 0;) {
            const auto run = MUST(compositions.in.u32be());
            const auto offset = static_cast<std::int32_t>(MUST(compositions.in.u32be()));
            CHECK(offset >= 0 || compositions.version == 1);
            for (std::uint32_t i = 0; i < run; ++i)
                samples.at(at++).composition = offset;
        }
        CHECK(at == count && compositions.in.at_end());
    }
    if (table.has("stss")) {
        for (TestSample& sample : samples)
            sample.key = false;
        TestFull keys(table.child("stss"));
        for (auto left = MUST(keys.in.u32be()); left-- > 0;)
            samples.at(MUST(keys.in.u32be()) - 1).key = true;
        CHECK(keys.in.at_end());
    }
    read_chunks(file, table, bytes, samples);
    return samples;
}

}  // namespace live::wire::mp4
