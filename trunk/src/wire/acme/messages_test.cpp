#include "wire/acme/messages.hpp"

#include <gtest/gtest.h>

#include "wire/acme/messages_vectors.hpp"

namespace live::wire::acme {
namespace {

TEST(AcmeMessages, ReadsTheExamplesOfTheSpecification) {
    const Directory directory = MUST(parse_directory(kDirectoryVector));
    EXPECT_EQ(directory.new_nonce, "https://example.com/acme/new-nonce");
    EXPECT_EQ(directory.new_account, "https://example.com/acme/new-account");
    EXPECT_EQ(directory.new_order, "https://example.com/acme/new-order");
    const Order order = MUST(parse_order(kOrderVector));
    EXPECT_EQ(order.status, "valid");
    EXPECT_EQ(order.authorizations, (std::vector<std::string>{"https://example.com/acme/authz/PAniVnsZcis",
                                                              "https://example.com/acme/authz/r4HqLzrSrpI"}));
    EXPECT_EQ(order.finalize, "https://example.com/acme/order/TOlocE8rfgo/finalize");
    EXPECT_EQ(order.certificate, "https://example.com/acme/cert/jWCdfHVGY2M");
    EXPECT_EQ(order.error, Problem());
    const Authorization authorization = MUST(parse_authorization(kAuthorizationVector));
    EXPECT_EQ(authorization.status, "pending");
    EXPECT_EQ(authorization.domain, "www.example.org");
    ASSERT_EQ(authorization.challenges.size(), 3U);
    EXPECT_EQ(authorization.challenges[0].type, "http-01");
    EXPECT_EQ(authorization.challenges[0].url, "https://example.com/acme/chall/prV_B7yEyA4");
    EXPECT_EQ(authorization.challenges[0].token, "DGyRejmCefe7v4NfDGDKfA");
    EXPECT_EQ(authorization.challenges[2].status, "invalid");
    EXPECT_EQ(authorization.challenges[2].error, (Problem{"connection", "refused"}));
    const Problem problem = parse_problem(kProblemVector);
    EXPECT_EQ(problem.type, "malformed");
    EXPECT_EQ(problem.detail,
              "Some of the identifiers requested were rejected (Invalid underscore in DNS name \"_example.org\")");
}

TEST(AcmeMessages, RefusesEachTruncation) {
    for (std::size_t size = 0; size < kDirectoryVector.size(); ++size)
        EXPECT_FALSE(parse_directory(kDirectoryVector.substr(0, size)).ok()) << size;
    for (std::size_t size = 0; size < kOrderVector.size(); ++size)
        EXPECT_FALSE(parse_order(kOrderVector.substr(0, size)).ok()) << size;
    for (std::size_t size = 0; size < kAuthorizationVector.size(); ++size)
        EXPECT_FALSE(parse_authorization(kAuthorizationVector.substr(0, size)).ok()) << size;
    for (std::size_t size = 0; size < kProblemVector.size(); ++size)
        EXPECT_EQ(parse_problem(kProblemVector.substr(0, size)), Problem()) << size;
}

TEST(AcmeMessages, RefusesOtherFormsAndLongLists) {
    for (const char* text :
         {"", "[]", "7", "{}", R"({"newNonce":"a","newAccount":"b"})", R"({"newNonce":1,"newAccount":2,"newOrder":3})"})
        EXPECT_EQ(parse_directory(text).code(), Errc::malformed) << text;
    EXPECT_EQ(parse_order(R"({"status":"pending","finalize":"f","authorizations":7})").code(), Errc::malformed);
    EXPECT_EQ(parse_order(R"({"status":"pending","finalize":"f","authorizations":[7]})").code(), Errc::malformed);
    EXPECT_EQ(parse_authorization(R"({"status":"pending","challenges":[7]})").code(), Errc::malformed);
    std::string list;
    for (std::size_t i = 0; i <= kListMax; ++i)
        list += i == 0 ? "\"a\"" : ",\"a\"";
    EXPECT_EQ(parse_order(R"({"status":"pending","finalize":"f","authorizations":[)" + list + "]}").code(), Errc::limit);
    EXPECT_EQ(parse_order(std::string(kMessageBytesMax + 1, ' ')).code(), Errc::limit);
    EXPECT_EQ(parse_order(std::string(1'000, '[')).code(), Errc::malformed);
    EXPECT_EQ(parse_problem("<html>"), Problem());
}

}  // namespace
}  // namespace live::wire::acme
