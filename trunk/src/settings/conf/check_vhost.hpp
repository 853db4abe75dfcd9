// Rules for the options of one virtual host, checked after the rows have checked each option alone.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "settings/conf/tree.hpp"

namespace live::settings {

// An error of the conf file.
inline Error broken(std::string sentence) { return {Errc::malformed, std::move(sentence)}; }

// `where` names the option in the sentence.
Result<void> check_url(const std::string& url, const std::string& where);
// Checks an SRT passphrase; an empty one means no encryption.
Result<void> check_passphrase(std::string_view passphrase, std::string_view option);

// The first broken rule, or success. A setting that cannot work is an error; others are warnings (settings/conf/warnings.hpp).
// For a disabled virtual host, only rules that need no other option are checked.
Result<void> check_vhost(const Vhost& vhost, const Settings& settings);

}  // namespace live::settings
