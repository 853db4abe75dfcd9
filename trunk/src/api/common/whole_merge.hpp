// Answers of several workers, made into one. Pure: bodies in, a body out; one that is no JSON, or not what is expected, counts as
// empty.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace live::api {

// What one worker has answered.
struct WorkerAnswer {
    std::size_t worker = 0;
    std::string body;
};
using WorkerAnswers = std::vector<WorkerAnswer>;

// Which entries of a merged list are shown.
struct Shown {
    std::size_t start = 0;
    std::size_t count = 0;
};

// An array in JSON: the entries of the page, and how many there are without it.
struct MergedList {
    std::string entries;
    std::size_t total = 0;
};
// Reports whether each answer's list is as long as its `total`.
bool are_whole(const char* key, const WorkerAnswers& answers);
// A stream is one entry for all its workers: that of its publisher, with the sums of clients and of bytes sent.
MergedList merge_streams(const WorkerAnswers& answers, const Shown& shown);
// Each with the number of its worker: clients, dvrs or forwards. The total is the sum of theirs.
MergedList merge_list(const char* key, const WorkerAnswers& answers, const Shown& shown);
// `streams` says how many streams each has: they may be on several workers.
MergedList merge_vhosts(const WorkerAnswers& answers, const WorkerAnswers& streams, const Shown& shown);
// The entry of an array with that id, none when there is none.
std::optional<std::string> entry_of(std::string_view array, std::string_view id);
// Whether an answer of /api/v1/clusters names a server that has the stream.
bool says_origin(const std::string& body);
// The "data" of /api/v1/summaries: that of the first answer, with the sums of what the processes use, and a list of them.
std::string merge_summaries(const WorkerAnswers& answers);
// The "data" of /api/v1/drain: how far the first one is, with the clients of all.
std::string merge_drain(const WorkerAnswers& answers);
// The "data" of /api/v1/clusters: an origin is one entry, which is up where any of them reaches it, with the sums of tries and
// failures; each pull has its worker; pushes and totals are added up.
std::string merge_clusters(const WorkerAnswers& answers);
// The "data" of /api/v1/memory: the sums by kind, and each worker's own sum.
std::string merge_memory(const WorkerAnswers& answers);
// The text for Prometheus. Samples of the same name and labels are added; of times, limits and states the greatest counts. What
// differs by worker is written once more with a label `worker`.
std::string merge_metrics(const WorkerAnswers& answers);

}  // namespace live::api
