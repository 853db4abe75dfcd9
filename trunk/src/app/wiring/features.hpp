// The features of this server, for the log's features line and /api/v1/features. One table for both; whether a feature is
// available is read from the rows of its options, which are marked if they have no effect yet.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/config/facts.hpp"

namespace live::app {

// "rch:on, dash:on, hls:on, hds:off, ...": scripts for servers of this family look for these.
std::string features_text(std::span<const config::RowInfo> rows);
// For the API, under its names.
std::vector<std::pair<std::string, bool>> features_of(std::span<const config::RowInfo> rows);

}  // namespace live::app
