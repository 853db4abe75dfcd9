// The rows of settings/conf/outputs.hpp: blocks of a virtual host.
#pragma once

#include <array>
#include <string_view>

#include "base/config/row.hpp"
#include "media/ring/option_rows.hpp"
#include "settings/conf/outputs.hpp"
#include "settings/conf/service_rows.hpp"

namespace live::settings {

inline constexpr auto kHdsRows = config::Rows{
    config::row(&HdsOptions::enabled, "enabled", kNextSession, "Adobe HDS."),
    config::row(&HdsOptions::fragment, "hds_fragment", 0s, 3600s, kNextSession, "Length of a fragment."),
    config::row(&HdsOptions::window, "hds_window", 0s, 86'400s, kNextSession, "Seconds of fragments."),
    config::row(&HdsOptions::path, "hds_path", kNextSession, "Base directory."),
};

inline constexpr auto kHttpStaticRows = config::Rows{
    config::row(&HttpStaticOptions::enabled, "enabled", kNextSession, "A document root of this virtual host."),
    config::row(&HttpStaticOptions::mount, "mount", kNextSession, "URL prefix."),
    config::row(&HttpStaticOptions::dir, "dir", kNextSession, "Directory."),
};

}  // namespace live::settings
