#include "service/hls/files/keys.hpp"

#include <gtest/gtest.h>

#include "service/hls/hls_service_fixture.hpp"

namespace live::service::hls {
namespace {

class KeysTest : public HlsServiceTest {
protected:
    void SetUp() override {
        HlsServiceTest::SetUp();
        options_.keys = true;
        options_.key_file_path = options_.path;
        options_.fragments_per_key = 2;
    }
    segments::FileRef in_memory(const std::string& name) const {
        return service_->index().store().find(std::filesystem::path(folder_.file(name)).lexically_normal().string());
    }

    const std::string url_ = "/live/cam";
};

// A list and its fragments are in memory before they are on disk. A fast player requests the key at once.
TEST_F(KeysTest, PlayersDoNotWaitForTheDisk) {
    options_.key_file_path = folder_.file("file");
    folder_.write("file", "");  // not a directory
    publish();
    seconds(4);
    io::wait_until([this] { return output() != nullptr && output()->together().list().next_number() >= 3; });
    const ListedSegment* newest = output()->together().list().find(2);
    ASSERT_TRUE(newest != nullptr && newest->key_file != nullptr);
    const auto key = in_memory("file/live/cam-2.key");
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(key->bytes(), 16U);
    EXPECT_TRUE(key->is_whole());
    const auto text = output()->together().playlist_text(SegmentList::Form::players, "vhost=a");
    EXPECT_NE(text->find("URI=\"cam-2.key?vhost=a\""), std::string::npos) << *text;
}

TEST_F(KeysTest, AreKeptWhileAFragmentNeedsThem) {
    options_.window = 2s;
    publish();
    // The newest second is not complete yet.
    for (std::uint64_t number = 0; number < 12; ++number) {
        seconds(1);
        io::wait_until([&] { return output() != nullptr && output()->together().list().next_number() >= number; });
    }
    const SegmentList& list = output()->together().list();
    for (std::uint64_t number = 0; number < list.next_number(); ++number) {
        const std::string name = "live/cam-" + std::to_string(number - number % 2) + ".key";
        if (list.find(number) != nullptr) {
            EXPECT_NE(in_memory(name), nullptr) << name;
        }
    }
    EXPECT_EQ(list.find(0), nullptr);
    EXPECT_EQ(in_memory("live/cam-0.key"), nullptr);
    io::wait_until([this] { return !is_on_disk("live/cam-0.key"); });
    unpublish();
    stop();
    EXPECT_EQ(service_->index().store().size(), 0U);
}

TEST_F(KeysTest, GetNoQueryAtAnAddressOfTheOperator) {
    options_.key_url = "https://keys.example.com/";
    publish();
    seconds(3);
    io::wait_until([this] { return output() != nullptr && output()->together().list().next_number() >= 1; });
    const auto text = output()->together().playlist_text(SegmentList::Form::players, "vhost=a");
    EXPECT_NE(text->find("URI=\"https://keys.example.com/live/cam-0.key\""), std::string::npos) << *text;
}

// A node that relays the stream may lack the first fragment of a key.
TEST_F(KeysTest, OfASecretDependOnTheNumberOnly) {
    options_.key_secret = "only the nodes know";
    segments::SourceFeed feed("HLS", source_, media::WakeMode::batched, log_);
    Disk disk(options_, feed, log_);
    const StreamName cam{"__defaultVhost__", "live", "cam"};
    const Names names(options_, cam, Zone::utc);
    segments::Store store;
    const auto keys_at = [&](const std::vector<std::uint64_t>& numbers) {
        Keys keys({options_, url_, names, disk, store, std::make_shared<segments::StreamOfFiles>()});
        for (const std::uint64_t number : numbers)
            MUST(keys.begin_segment(number));
        return *keys.key();
    };
    EXPECT_EQ(keys_at({2, 3, 7}), keys_at({4, 5, 6, 7}));
    EXPECT_NE(keys_at({2, 3, 7}), keys_at({2, 3}));
    EXPECT_EQ(keys_at({3}), keys_at({2, 3}));
    EXPECT_EQ(store.size(), 0U);
}

}  // namespace
}  // namespace live::service::hls
