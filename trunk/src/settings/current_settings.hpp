// CurrentSettings: the settings in force. Each component holds this handle and reads it every time; a value read from it is not
// kept across a suspension. A reload has two steps: it proposes new settings, then either replaces the current ones or withdraws.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "settings/conf/load.hpp"

namespace live::settings {

class CurrentSettings {
public:
    explicit CurrentSettings(Settings settings) : settings_(std::make_unique<const Settings>(std::move(settings))) {}

    const Settings& operator*() const { return *settings_; }
    const Settings* operator->() const { return settings_.get(); }
    // The proposed settings during a reload; otherwise the current ones.
    const Settings& coming() const { return coming_ ? *coming_ : *settings_; }
    void propose(Settings settings) { coming_ = std::make_unique<const Settings>(std::move(settings)); }
    void take_back() { coming_.reset(); }
    // Requires a proposal.
    void replace() {
        settings_ = std::move(coming_);
        ++version_;
    }
    // Changes with each replacement: for data derived from the settings.
    std::uint64_t version() const { return version_; }

private:
    std::unique_ptr<const Settings> settings_;
    std::unique_ptr<const Settings> coming_;
    std::uint64_t version_ = 1;
};

}  // namespace live::settings
