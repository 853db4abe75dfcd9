// Combines the JSON answers of several workers. Pure: bodies in, a body out. A body that is not JSON of the expected form counts
// as empty.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace live::api {

struct WorkerAnswer {
    std::size_t worker = 0;
    std::string body;
};
using WorkerAnswers = std::vector<WorkerAnswer>;

// The page of a merged list.
struct Shown {
    std::size_t start = 0;
    std::size_t count = 0;
};

// The entries of a page as a JSON array, and the count of all entries.
struct MergedList {
    std::string entries;
    std::size_t total = 0;
};
// Reports whether each answer's list is as long as its `total`.
bool are_whole(const char* key, const WorkerAnswers& answers);
// One entry per stream: that of its publisher's worker, with the sums of clients and bytes sent.
MergedList merge_streams(const WorkerAnswers& answers, const Shown& shown);
// Clients, dvrs or forwards, each with the number of its worker. The total is the sum of the workers' totals.
MergedList merge_list(const char* key, const WorkerAnswers& answers, const Shown& shown);
// Counts the streams of each virtual host in `streams`, because one stream may be on several workers.
MergedList merge_vhosts(const WorkerAnswers& answers, const WorkerAnswers& streams, const Shown& shown);
// Returns the entry of an array with that id, or nullopt.
std::optional<std::string> entry_of(std::string_view array, std::string_view id);
// Reports whether an answer of /api/v1/clusters names a server that has the stream.
bool says_origin(const std::string& body);
// The "data" of /api/v1/summaries: that of the first answer, with sums over the processes and a list of them.
std::string merge_summaries(const WorkerAnswers& answers);
// The "data" of /api/v1/drain: the progress of the first worker, with the clients of all.
std::string merge_drain(const WorkerAnswers& answers);
// The "data" of /api/v1/clusters. One entry per origin: up if any worker reaches it, with the sums of tries and failures. Each
// pull has the number of its worker; pushes and totals are added.
std::string merge_clusters(const WorkerAnswers& answers);
// The "data" of /api/v1/memory: the sums by kind, and each worker's own sum.
std::string merge_memory(const WorkerAnswers& answers);

}  // namespace live::api
