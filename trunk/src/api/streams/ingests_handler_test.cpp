#include "api/streams/ingests_handler.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "engine/workers/row.hpp"

namespace live::api {
namespace {

using service::ingest::IngestFacts;
using service::ingest::IngestState;

IngestFacts ingest_in(IngestState state, std::string last_error = {}, std::string tracks = {}) {
    IngestFacts facts;
    facts.vhost = "v";
    facts.id = "door";
    facts.is_native = facts.is_on_demand = true;
    facts.state = state;
    facts.last_error = std::move(last_error);
    facts.tracks = std::move(tracks);
    return facts;
}

// The state and the error that a server with two workers answers.
std::pair<std::string, std::string> shown(const IngestFacts& first, const IngestFacts& second) {
    engine::workers::RowReport sum;
    std::size_t worker = 0;
    for (const IngestFacts* facts : {&first, &second})
        engine::workers::add_report(sum, ++worker, {{}, {ingest_row(*facts, TimePoint())}});
    EXPECT_EQ(sum.rows.size(), 1U);
    return {std::string(sum.rows[0].text("state")), std::string(sum.rows[0].text("last_error"))};
}

TEST(IngestsHandler, ShowsTheWorkerThatPullsOrTries) {
    const IngestFacts idle = ingest_in(IngestState::idle);
    const IngestFacts failed = ingest_in(IngestState::idle, "401 Unauthorized");
    const IngestFacts running = ingest_in(IngestState::running, "an earlier error", "H264");
    const IngestFacts waiting = ingest_in(IngestState::waiting, "connection refused");
    const IngestFacts connecting = ingest_in(IngestState::connecting, "connection refused");
    const IngestFacts elsewhere = ingest_in(IngestState::waiting, "published by another worker", "H264");
    for (const bool swapped : {false, true}) {
        const auto both = [swapped](const IngestFacts& one, const IngestFacts& other) {
            return swapped ? shown(other, one) : shown(one, other);
        };
        using Shown = std::pair<std::string, std::string>;
        EXPECT_EQ(both(idle, waiting), Shown("waiting", "connection refused"));
        EXPECT_EQ(both(idle, connecting), Shown("connecting", "connection refused"));
        EXPECT_EQ(both(idle, running), Shown("running", "an earlier error"));
        EXPECT_EQ(both(elsewhere, running), Shown("running", "an earlier error"));
        EXPECT_EQ(both(idle, failed), Shown("idle", "401 Unauthorized"));
        EXPECT_EQ(both(failed, waiting), Shown("waiting", "connection refused"));
        EXPECT_EQ(both(failed, running), Shown("running", "an earlier error"));
        EXPECT_EQ(both(failed, elsewhere), Shown("idle", "401 Unauthorized"));
        EXPECT_EQ(both(idle, idle), Shown("idle", ""));
    }
}

}  // namespace
}  // namespace live::api
