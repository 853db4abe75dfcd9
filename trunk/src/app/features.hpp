// What this server can do, as the log's features line and /api/v1/features say it. One table for both; whether a feature is there
// is read off the rows of its options, which know what does nothing yet.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/config/facts.hpp"

namespace live::app {

// "rch:on, dash:on, hls:on, hds:off, ...": scripts of the family look for these.
std::string features_text(std::span<const config::RowInfo> rows);
// For the API, by its names.
std::vector<std::pair<std::string, bool>> features_of(std::span<const config::RowInfo> rows);

}  // namespace live::app
