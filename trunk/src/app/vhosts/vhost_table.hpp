// VhostTable: the virtual hosts of the settings in force, for admission and the access log.
#pragma once

#include <optional>
#include <string>

#include "service/access_log/access_log.hpp"
#include "service/admission/vhost_rules.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class VhostTable final : public service::admission::VhostRulesTable, public service::access_log::VhostNames {
public:
    // `settings` must outlive this.
    explicit VhostTable(const settings::CurrentSettings& settings) : settings_(settings) {}

    // service::admission::VhostRulesTable
    std::optional<service::admission::VhostRules> find(const std::string& name) const override;

    // service::access_log::VhostNames
    std::string serving(const std::string& name) const override;

private:
    const settings::CurrentSettings& settings_;
};

}  // namespace live::app
