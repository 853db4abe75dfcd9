// Rules for the options of one virtual host, checked after the rows have checked each option alone.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/config/option_check.hpp"
#include "base/result.hpp"
#include "settings/conf/tree.hpp"

namespace live::settings {

// An error of the conf file.
inline Error broken(std::string sentence) { return {Errc::malformed, std::move(sentence)}; }

// `where` names the option in the sentence.
Result<void> check_url(const std::string& url, const std::string& where);

// The first broken rule, or success. A setting that cannot work is an error; others are warnings (settings/conf/warnings.hpp).
// For a disabled virtual host, only rules that need no other option are checked.
Result<void> check_vhost(const Vhost& vhost, const Settings& settings);

// A check that a room declares for its options, with their place in the tree: in a virtual host, or in the server.
template <class Tree>
struct RoomCheck {
    config::Findings (*run)(const Tree& tree, const config::CheckContext& around);
    bool is_for_disabled;
};

template <class Tree, class Options>
Tree tree_of(Options Tree::*);

template <const auto& check, auto member>
constexpr auto room_check() {
    using Tree = decltype(tree_of(member));
    const auto run = [](const Tree& tree, const config::CheckContext& around) { return check.check(tree.*member, around); };
    return RoomCheck<Tree>{run, check.is_for_disabled};
}

inline constexpr std::array kVhostChecks = {room_check<service::relay::kClusterCheck, &Vhost::cluster>(),
                                            room_check<service::forward::kForwardCheck, &Vhost::forward>(),
                                            room_check<service::ingest::kIngestCheck, &Vhost::ingests>(),
                                            room_check<service::ladder::kLadderCheck, &Vhost::ladder>(),
                                            room_check<service::access::kSecurityCheck, &Vhost::security>(),
                                            room_check<service::tokens::kTokenCheck, &Vhost::access>(),
                                            room_check<session::http_live::kRemuxCheck, &Vhost::http_remux>(),
                                            room_check<session::srt::kSrtCheck, &Vhost::srt>()};
inline constexpr std::array kServerChecks = {room_check<service::cluster::kRegistryCheck, &Settings::cluster>(),
                                             room_check<session::srt::kSrtServerCheck, &Settings::srt_server>(),
                                             room_check<session::rtc::kRtcServerCheck, &Settings::rtc_server>(),
                                             room_check<service::users::kUserCheck, &Settings::users>(),
                                             room_check<service::acme::kAcmeCheck, &Settings::acme>()};

inline config::CheckContext context_of(const Vhost& vhost, const Settings& settings) {
    return {vhost.name, !settings.cluster.registry.empty()};
}

}  // namespace live::settings
