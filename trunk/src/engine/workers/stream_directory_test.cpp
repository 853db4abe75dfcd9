#include "engine/workers/stream_directory.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace live::engine::workers {
namespace {

const std::string kUrl = "/live/cam";

Message claim_of(std::uint32_t ticket, bool replaces = false) {
    return {Kind::claim, static_cast<std::uint8_t>(replaces ? 1 : 0), 0, ticket, 0, kUrl};
}

Verdict verdict_of(const std::vector<StreamDirectory::Outgoing>& out) {
    EXPECT_FALSE(out.empty());
    EXPECT_EQ(out.front().message.kind, Kind::claimed);
    return static_cast<Verdict>(out.front().message.flag);
}

TEST(StreamDirectory, GivesAStreamToOneWorker) {
    StreamDirectory directory(3);
    const auto first = directory.handle(1, claim_of(7));
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].to, 1);
    EXPECT_EQ(first[0].message.ticket, 7U);
    EXPECT_EQ(verdict_of(first), Verdict::granted);
    const auto second = directory.handle(2, claim_of(8));
    EXPECT_EQ(verdict_of(second), Verdict::refused);
    EXPECT_EQ(second[0].message.worker, 1);
    EXPECT_EQ(verdict_of(directory.handle(1, claim_of(9))), Verdict::granted) << "its own";
    directory.handle(2, {Kind::withdraw, 0, 0, 0, 0, kUrl});
    EXPECT_TRUE(directory.find(kUrl)) << "not its to withdraw";
    directory.handle(1, {Kind::withdraw, 0, 0, 0, 0, kUrl});
    EXPECT_FALSE(directory.find(kUrl));
    EXPECT_EQ(verdict_of(directory.handle(2, claim_of(8))), Verdict::granted);
}

TEST(StreamDirectory, NotifiesOtherWorkersOfThePublisher) {
    StreamDirectory directory(3);
    directory.handle(2, claim_of(1));
    const auto told = directory.handle(2, {Kind::announce, 0, 0, 0, 0, kUrl});
    ASSERT_EQ(told.size(), 2U);
    for (const auto& out : told) {
        EXPECT_NE(out.to, 2);
        EXPECT_EQ(out.message.kind, Kind::moved);
        EXPECT_EQ(out.message.worker, 2);
    }
    const auto found = directory.handle(3, {Kind::find, 0, 0, 5, 0, kUrl});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].message.worker, 2);
    EXPECT_EQ(found[0].message.ticket, 5U);
    EXPECT_NE(found[0].message.epoch, 0U);
    EXPECT_EQ(directory.handle(3, {Kind::find, 0, 0, 5, 0, "/live/none"})[0].message.worker, 0);
}

TEST(StreamDirectory, TakesAStreamOverOnRequest) {
    StreamDirectory directory(3);
    directory.handle(1, claim_of(1));
    const auto out = directory.handle(2, claim_of(2, true));
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(verdict_of(out), Verdict::granted);
    EXPECT_EQ(out[1].to, 1);
    EXPECT_EQ(out[1].message.kind, Kind::lost);
    // The first one's announcement comes late.
    const auto late = directory.handle(1, {Kind::announce, 0, 0, 0, 0, kUrl});
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(late[0].message.kind, Kind::lost);
    EXPECT_EQ(late[0].to, 1);
    EXPECT_EQ(directory.find(kUrl)->worker, 2);
}

TEST(StreamDirectory, ForgetsTheDead) {
    StreamDirectory directory(2);
    directory.handle(1, claim_of(1));
    directory.forget(1);
    EXPECT_EQ(directory.streams(), 0U);
    EXPECT_EQ(verdict_of(directory.handle(2, claim_of(2))), Verdict::granted);
}

TEST(StreamDirectory, LimitsTheStreamsOfAWorker) {
    StreamDirectory directory(2);
    for (std::size_t i = 0; i < StreamDirectory::kStreamsMax; ++i)
        directory.handle(1, {Kind::claim, 0, 0, 0, 0, "/live/" + std::to_string(i)});
    EXPECT_EQ(directory.streams(1), StreamDirectory::kStreamsMax);
    EXPECT_EQ(verdict_of(directory.handle(1, claim_of(1))), Verdict::too_many);
    EXPECT_EQ(directory.handle(1, {Kind::announce, 0, 0, 0, 0, kUrl})[0].message.kind, Kind::lost);
    EXPECT_EQ(verdict_of(directory.handle(2, claim_of(1))), Verdict::granted);
}

// Against a plain map.
TEST(StreamDirectory, AgreesWithAMap) {
    std::mt19937 random(25);
    StreamDirectory directory(4);
    std::map<std::string, Worker> model;
    for (int step = 0; step < 20'000; ++step) {
        const auto worker = static_cast<Worker>(1 + random() % 4);
        const std::string url = "/live/" + std::to_string(random() % 6);
        const auto known = model.find(url);
        switch (random() % 5) {
            case 0: {
                const bool replaces = random() % 2 == 0;
                directory.handle(worker, {Kind::claim, static_cast<std::uint8_t>(replaces ? 1 : 0), 0, 0, 0, url});
                if (known == model.end() || replaces)
                    model[url] = worker;
                break;
            }
            case 1:
                directory.handle(worker, {Kind::announce, 0, 0, 0, 0, url});
                model.emplace(url, worker);
                break;
            case 2:
            case 3:
                directory.handle(worker, {Kind::withdraw, 0, 0, 0, 0, url});
                if (known != model.end() && known->second == worker)
                    model.erase(known);
                break;
            default:
                if (random() % 50 == 0) {
                    directory.forget(worker);
                    std::erase_if(model, [worker](const auto& entry) { return entry.second == worker; });
                }
        }
        ASSERT_EQ(directory.streams(), model.size());
        const auto owner = directory.find(url);
        ASSERT_EQ(owner ? owner->worker : 0, model.contains(url) ? model[url] : 0);
    }
}

TEST(StreamDirectory, TakesThePlaceOfAnotherOne) {
    StreamDirectory before(4), after(4);
    before.handle(1, claim_of(1));
    before.handle(2, {Kind::announce, 0, 0, 0, 0, "/live/b"});
    before.handle(2, {Kind::announce, 0, 0, 0, 0, "/live/c"});
    for (const auto& [url, owner] : before.owners())
        after.restore(url, owner);
    EXPECT_EQ(after.streams(), 3U);
    EXPECT_EQ(after.streams(2), 2U);
    EXPECT_EQ(after.find(kUrl)->epoch, before.find(kUrl)->epoch);
    EXPECT_EQ(verdict_of(after.handle(3, claim_of(2))), Verdict::refused) << "its publisher goes on";
    after.handle(3, {Kind::announce, 0, 0, 0, 0, "/live/d"});
    for (const char* url : {"/live/b", "/live/c", kUrl.c_str()})
        EXPECT_GT(after.find("/live/d")->epoch, after.find(url)->epoch) << "a later owner has a later number";
    after.restore(kUrl, {4, 99});
    EXPECT_EQ(after.find(kUrl)->worker, 1) << "what is known here stays";
    after.restore("/live/e", {0, 1});
    after.restore("/live/e", {5, 1});
    EXPECT_FALSE(after.find("/live/e")) << "no such worker";
    after.restore("/live/e", {4, ~std::uint64_t{0}});
    after.forget(2);
    after.forget(4);
    EXPECT_EQ(after.streams(), 2U);
}

}  // namespace
}  // namespace live::engine::workers
