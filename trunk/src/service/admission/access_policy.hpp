// AccessPolicy: `access`, the credentials of publishers and players: tokens, signed URLs, and names with passwords.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "service/access/options.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/tokens/token_verifier.hpp"
#include "service/users/user_service.hpp"

namespace live::service::admission {

// The permission of one client.
struct AccessGrant {
    std::optional<tokens::UnixSeconds> ends_at{};  // the session ends then
    std::string user{};                            // empty unless the client is a user of the conf
};

class AccessPolicy {
public:
    // All must outlive this.
    AccessPolicy(const VhostPolicy& vhosts, const tokens::KeyRing& keys, tokens::KeySets& key_sets, users::UserService& users)
        : vhosts_(vhosts), tokens_(keys, key_sets), users_(users) {}

    // Errc::denied with a sentence for the client, Errc::unauthenticated if it may try again with other credentials, and errors
    // as VhostPolicy::rules_of() and UserService::check().
    Result<AccessGrant> check(const session::ClientRequest& request, access::Role role, tokens::UnixSeconds now,
                              io::Deadline deadline) const;
    // The same, but a password is right only if it was right before. Does not suspend.
    Result<AccessGrant> check_at_once(const session::ClientRequest& request, access::Role role, tokens::UnixSeconds now) const;
    // After a reload: an error if the client would be refused now, Errc::limit if that is unknown until a key set is read. `user`
    // is that of its grant, and its password is not checked. Does not suspend.
    Result<void> check_again(const session::ClientRequest& request, access::Role role, const std::string& user,
                             tokens::UnixSeconds now) const;

private:
    struct Asked;
    struct Given;

    Result<Asked> asked_of(const session::ClientRequest& request, access::Role role) const;
    Result<Given> given_by(const session::ClientRequest& request) const;
    Error no_credentials() const;
    // Requests the key sets that have no key for this token.
    void refresh_key_sets(const session::ClientRequest& request, access::Role role, io::Deadline deadline) const;
    Result<AccessGrant> check_token(const Asked& asked, const std::string& token, tokens::UnixSeconds now) const;
    Result<AccessGrant> check_url(const Asked& asked, const Given& given, const session::ClientRequest& request,
                                  tokens::UnixSeconds now) const;
    // A token or a signed URL; nullopt if the client has neither.
    Result<std::optional<AccessGrant>> check_signed(const Asked& asked, const Given& given, const session::ClientRequest& request,
                                                    tokens::UnixSeconds now) const;
    static Result<AccessGrant> check_user(const Asked& asked, const users::UserRef& user);

    const VhostPolicy& vhosts_;
    const tokens::TokenVerifier tokens_;
    users::UserService& users_;
};

}  // namespace live::service::admission
