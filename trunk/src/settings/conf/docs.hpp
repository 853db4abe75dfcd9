// The two documents generated from the rows: conf/full.conf, which shows every directive with its default, and doc/config.md, the
// reference. Pure text; tools/generate_docs.cpp writes the files.
#pragma once

#include <span>
#include <string>

#include "base/config/facts.hpp"

namespace live::settings {

// A conf file that names every directive. It contains `is_full on`, so the server refuses to start with it; without that line it
// loads.
std::string full_conf_text(std::span<const config::RowInfo> rows);

// Markdown: one section per block, one table row per directive.
std::string config_document_text(std::span<const config::RowInfo> rows);

}  // namespace live::settings
