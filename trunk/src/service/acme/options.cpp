#include "service/acme/options.hpp"

#include <algorithm>

#include "base/net/endpoint.hpp"
#include "wire/http/url.hpp"

namespace live::service::acme {

namespace {

constexpr const char* kLetsEncrypt = "https://acme-v02.api.letsencrypt.org/directory";
constexpr const char* kLetsEncryptStaging = "https://acme-staging-v02.api.letsencrypt.org/directory";
constexpr std::size_t kEmailBytesMax = 254;

bool is_email(std::string_view text) {
    return text.size() <= kEmailBytesMax && std::ranges::count(text, '@') == 1 && std::ranges::all_of(text, [](char letter) {
               return letter > ' ' && letter < 0x7F && letter != '"' && letter != '\\';
           });
}

}  // namespace

std::string directory_of(const AcmeOptions& options) {
    return !options.directory.empty() ? options.directory : options.staging ? kLetsEncryptStaging : kLetsEncrypt;
}

AcmeFiles files_beside(const std::string& pid_file) {
    const std::string stem = pid_file.ends_with(".pid") ? pid_file.substr(0, pid_file.size() - 4) : pid_file;
    return {stem + ".acme.pem", stem + ".acme.account.pem", stem + ".acme.challenge", stem + ".acme.alpn.pem"};
}

config::Findings check_acme_options(const AcmeOptions& options, const config::CheckContext&) {
    if (!options.enabled)
        return {};
    if (options.domains.empty() || options.domains.size() > engine::acme::Client::kDomainsMax)
        return config::Findings::broken("acme: expected 1 to 100 names: domain live.example.com;");
    for (const std::string& domain : options.domains)
        if (!engine::acme::is_domain(domain))
            return config::Findings::broken("acme: found domain " + domain + ", expected a name of DNS without a wildcard");
    if (!options.email.empty() && !is_email(options.email))
        return config::Findings::broken("acme: found email " + options.email + ", expected an address");
    if (!options.accept_terms)
        return config::Findings::broken("acme: accept_terms on; is needed: the certificate authority has terms of service");
    if (const auto url = wire::http::parse_url(directory_of(options)); !url.ok())
        return config::Findings::broken("acme: found directory " + options.directory + ": " + url.error().sentence());
    return {};
}

}  // namespace live::service::acme
