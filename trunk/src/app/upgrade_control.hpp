// UpgradeControl: the API's view of an upgrade, over the supervisor's Upgrade.
#pragma once

#include "api/system/upgrade_handler.hpp"
#include "supervisor/upgrade.hpp"

namespace live::app {

class UpgradeControl final : public api::UpgradeControl {
public:
    // `upgrade` outlives this.
    explicit UpgradeControl(supervisor::Upgrade& upgrade) : upgrade_(upgrade) {}

    api::UpgradeFacts upgrade_facts() const override {
        const supervisor::UpgradeStatus& status = upgrade_.status();
        return {state_of(status.state), upgrade_.server_pid(), status.successor, status.error};
    }
    Result<std::uint32_t> upgrade(io::Deadline deadline) override { return upgrade_.request(deadline); }

private:
    static api::UpgradeFacts::State state_of(supervisor::UpgradeStatus::State state) {
        switch (state) {
            case supervisor::UpgradeStatus::State::serving: return api::UpgradeFacts::State::serving;
            case supervisor::UpgradeStatus::State::starting: return api::UpgradeFacts::State::starting;
            case supervisor::UpgradeStatus::State::draining: return api::UpgradeFacts::State::draining;
        }
        return api::UpgradeFacts::State::serving;
    }

    supervisor::Upgrade& upgrade_;
};

}  // namespace live::app
