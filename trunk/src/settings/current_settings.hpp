// CurrentSettings: the settings that count now. Each part holds this handle and asks it each time; what it gives is not kept
// across a suspension. A reload has two steps: it shows what is to come, and replaces what counts or thinks better of it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "settings/load.hpp"

namespace live::settings {

class CurrentSettings {
public:
    explicit CurrentSettings(Settings settings) : settings_(std::make_unique<const Settings>(std::move(settings))) {}

    const Settings& operator*() const { return *settings_; }
    const Settings* operator->() const { return settings_.get(); }
    // Of a reload that goes on; else those that count.
    const Settings& coming() const { return coming_ ? *coming_ : *settings_; }
    void propose(Settings settings) { coming_ = std::make_unique<const Settings>(std::move(settings)); }
    void take_back() { coming_.reset(); }
    // Something is proposed.
    void replace() {
        settings_ = std::move(coming_);
        ++version_;
    }
    // Another one after each replacement: for what is derived from them.
    std::uint64_t version() const { return version_; }

private:
    std::unique_ptr<const Settings> settings_;
    std::unique_ptr<const Settings> coming_;
    std::uint64_t version_ = 1;
};

}  // namespace live::settings
