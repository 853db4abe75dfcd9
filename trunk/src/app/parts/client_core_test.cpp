#include "app/parts/client_core.hpp"

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "session/common/client_fixture.hpp"

namespace live::app {
namespace {

using session::ClientKind;
using session::FakeClient;

struct ClientCoreTest : ::testing::Test {
    static settings::Settings some_settings() {
        settings::Settings settings;
        settings.access_log = "off";
        settings.limits.memory_budget = 64;
        settings.vhosts.resize(2);
        settings.vhosts[0].name = "h";
        settings.vhosts[1].name = "disabled";
        settings.vhosts[1].enabled = false;
        return settings;
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    Log log;
    settings::CurrentSettings settings{some_settings()};
    ServerNames names;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    ClientCore clients{settings, names, streams, 7, log};
};

TEST_F(ClientCoreTest, TakesItsLimitsFromTheSettings) {
    EXPECT_EQ(clients.places().max(), 7U);
    EXPECT_EQ(clients.places().memory().whole(), std::size_t{64} << 20);
    clients.set_limits(9);
    EXPECT_EQ(clients.places().max(), 9U);
}

TEST_F(ClientCoreTest, KicksOnlyThePublisherOfAStream) {
    FakeClient publisher(clients.table(), ClientKind::fmle_publish, "cam", "1");
    FakeClient pull(clients.table(), ClientKind::relay_pull, "cam", "2");
    FakeClient player(clients.table(), ClientKind::rtmp_play, "cam", "3");
    FakeClient other(clients.table(), ClientKind::fmle_publish, "other", "4");
    for (FakeClient* client : {&publisher, &pull, &player, &other})
        client->enter(io::now());
    clients.kick_publisher("/live/cam", "another node has it");
    EXPECT_EQ(publisher.kicked, "another node has it");
    for (FakeClient* client : {&pull, &player, &other})
        EXPECT_EQ(client->kicked, "");
    for (FakeClient* client : {&publisher, &pull, &player, &other})
        client->leave();
}

TEST_F(ClientCoreTest, AsksPublishersToLeaveAndKeepsPlayers) {
    FakeClient publisher(clients.table(), ClientKind::srt_publish, "cam", "1");
    FakeClient player(clients.table(), ClientKind::rtmp_play, "cam", "2");
    publisher.enter(io::now());
    player.enter(io::now());
    clients.ask_publishers_to_leave();
    EXPECT_NE(publisher.kicked, "");
    EXPECT_EQ(player.kicked, "");
    publisher.leave();
    player.leave();
}

TEST_F(ClientCoreTest, KicksClientsOfDisabledVhosts) {
    const service::admission::VhostPolicy vhosts(clients.vhosts());
    FakeClient kept(clients.table(), ClientKind::rtmp_play, "cam", "1");
    FakeClient lost(clients.table(), ClientKind::rtmp_play, "cam", "2");
    lost.asked.vhost = "disabled";
    FakeClient unknown(clients.table(), ClientKind::unknown, "", "3");
    unknown.asked.vhost.clear();
    for (FakeClient* client : {&kept, &lost})
        client->enter(io::now());
    clients.apply_vhosts(vhosts);
    EXPECT_EQ(kept.kicked, "");
    EXPECT_NE(lost.kicked, "");
    EXPECT_EQ(unknown.kicked, "");
    kept.leave();
    lost.leave();
}

}  // namespace
}  // namespace live::app
