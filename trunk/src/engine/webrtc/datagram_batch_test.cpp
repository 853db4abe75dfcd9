#include "engine/webrtc/datagram_batch.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace live::engine::webrtc {
namespace {

const TransportAddress kA{parse_ip("10.0.0.1").value(), 1'000};
const TransportAddress kB{parse_ip("10.0.0.1").value(), 1'001};

std::vector<std::uint8_t> bytes(std::size_t count, std::uint8_t value) { return std::vector<std::uint8_t>(count, value); }

std::vector<std::size_t> gso_lengths(const DatagramBatch& batch) {
    std::vector<std::size_t> lengths;
    batch.for_each_gso_batch([&lengths](const DatagramBatch::GsoBatch& gso) { lengths.push_back(gso.count); });
    EXPECT_EQ(batch.gso_batches(), lengths.size());
    return lengths;
}

TEST(DatagramBatch, AGsoBatchHasOneAddressAndOneSizeAndAShorterEnd) {
    DatagramBatch batch;
    for (const std::size_t size : {100U, 100U, 40U, 40U, 100U})
        ASSERT_TRUE(batch.append(kA, bytes(size, 1)));
    ASSERT_TRUE(batch.append(kB, bytes(100, 2)));
    ASSERT_TRUE(batch.append(kB, bytes(101, 3)));
    EXPECT_EQ(gso_lengths(batch), (std::vector<std::size_t>{3, 1, 1, 1, 1})) << "a longer one begins a GSO batch of its own";
    std::vector<DatagramBatch::GsoBatch> batches;
    batch.for_each_gso_batch([&](const DatagramBatch::GsoBatch& gso) { batches.push_back(gso); });
    EXPECT_EQ(batches[0].to, kA);
    EXPECT_EQ(batches[0].segment_bytes, 100U);
    EXPECT_EQ(batches[0].bytes.size(), 240U);
    EXPECT_EQ(batches[3].to, kB);
    EXPECT_EQ(batches[4].bytes.front(), 3);
}

TEST(DatagramBatch, GsoBatchesFitTheLimitsOfTheKernel) {
    DatagramBatch batch;
    for (std::size_t i = 0; i <= DatagramBatch::kGsoDatagramsMax; ++i)
        ASSERT_TRUE(batch.append(kA, bytes(10, 1)));
    EXPECT_EQ(gso_lengths(batch), (std::vector<std::size_t>{DatagramBatch::kGsoDatagramsMax, 1}));
    batch.clear();
    EXPECT_TRUE(batch.empty());
    const std::size_t half = DatagramBatch::kGsoBytesMax / 2;
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(batch.append(kA, bytes(half, 1)));
    EXPECT_EQ(gso_lengths(batch), (std::vector<std::size_t>{2, 1}));
}

TEST(DatagramBatch, KeepsTheOrder) {
    DatagramBatch batch;
    ASSERT_TRUE(batch.append(kA, bytes(1, 1)));
    ASSERT_TRUE(batch.append(kB, bytes(2, 2)));
    std::vector<std::pair<TransportAddress, std::size_t>> seen;
    batch.for_each([&](const TransportAddress& to, Bytes datagram) { seen.emplace_back(to, datagram.size()); });
    EXPECT_EQ(seen, (std::vector<std::pair<TransportAddress, std::size_t>>{{kA, 1}, {kB, 2}}));
}

TEST(DatagramBatch, DatagramsCanBeWrittenInPlace) {
    DatagramBatch batch;
    ASSERT_TRUE(batch.append(kA, bytes(100, 1)));
    MutBytes place = batch.place_for(2'000);
    ASSERT_EQ(place.size(), 2'000U);
    std::ranges::fill(place.first(100), 2);
    batch.take_placed(kA, 100);
    static_cast<void>(batch.place_for(3'000));  // discarded
    ASSERT_TRUE(batch.append(kA, bytes(40, 3)));
    EXPECT_EQ(gso_lengths(batch), (std::vector<std::size_t>{3}));
    EXPECT_EQ(batch.bytes(), 240U);
    std::vector<std::uint8_t> last;
    batch.for_each([&](const TransportAddress&, Bytes datagram) { last.push_back(datagram.back()); });
    EXPECT_EQ(last, (std::vector<std::uint8_t>{1, 2, 3}));
}

TEST(DatagramBatch, APlaceIsBoundedAsWell) {
    DatagramBatch batch;
    EXPECT_EQ(batch.place_for(DatagramBatch::kBytesMax).size(), DatagramBatch::kBytesMax);
    EXPECT_TRUE(batch.place_for(DatagramBatch::kBytesMax + 1).empty());
    for (std::size_t i = 0; i < DatagramBatch::kDatagramsMax; ++i) {
        ASSERT_EQ(batch.place_for(1).size(), 1U);
        batch.take_placed(kA, 1);
    }
    EXPECT_TRUE(batch.place_for(1).empty());
    EXPECT_EQ(batch.dropped(), 2U);
}

TEST(DatagramBatch, IsBounded) {
    DatagramBatch batch;
    for (std::size_t i = 0; i < DatagramBatch::kDatagramsMax; ++i)
        ASSERT_TRUE(batch.append(kA, bytes(1, 1)));
    EXPECT_FALSE(batch.append(kA, bytes(1, 1)));
    EXPECT_EQ(batch.dropped(), 1U);
    batch.clear();
    EXPECT_TRUE(batch.append(kA, bytes(DatagramBatch::kBytesMax, 1)));
    EXPECT_FALSE(batch.append(kA, bytes(1, 1)));
    EXPECT_EQ(batch.dropped(), 2U);
}

}  // namespace
}  // namespace live::engine::webrtc
