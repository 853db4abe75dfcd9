#include "service/acme/challenge_handler.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "service/acme/acme_service.hpp"
#include "service/acme/private_file.hpp"

namespace live::service::acme {
namespace {

::mode_t rights_of(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 0777U : 0;
}

TEST(ChallengeHandler, AnswersTheTokenOfTheOrderOnly) {
    const std::string content = ChallengeHandler::content_of("tok-en_1.thumbprint");
    EXPECT_EQ(answer_for("/.well-known/acme-challenge/tok-en_1", content), "tok-en_1.thumbprint");
    for (const char* path :
         {"/.well-known/acme-challenge/", "/.well-known/acme-challenge/tok", "/.well-known/acme-challenge/tok-en_1.thumbprint",
          "/.well-known/acme-challenge/../tok-en_1", "/tok-en_1", ""})
        EXPECT_EQ(answer_for(path, content), "") << path;
    EXPECT_EQ(answer_for("/.well-known/acme-challenge/", "\n"), "");
    EXPECT_EQ(answer_for("/.well-known/acme-challenge/", ""), "");
}

TEST(AcmePrivateFile, IsForItsOwnerAndWhole) {
    const ScratchFolder folder;
    const std::string path = folder.file("key.pem");
    EXPECT_EQ(read_private_file(path).code(), Errc::not_found);
    MUST(write_private_file(path, "one"));
    MUST(write_private_file(path, "two"));
    EXPECT_EQ(MUST(read_private_file(path)), "two");
    EXPECT_EQ(rights_of(path), 0600U);
    EXPECT_FALSE(MUST(make_private_file(path, "three"))) << "it exists";
    EXPECT_EQ(MUST(read_private_file(path)), "two");
    EXPECT_TRUE(MUST(make_private_file(folder.file("other.pem"), "three")));
    EXPECT_EQ(write_private_file(folder.file("no/such/folder"), "x").code(), Errc::system);
    MUST(write_private_file(path, std::string(kPrivateFileBytesMax + 1, 'x')));
    EXPECT_EQ(read_private_file(path).code(), Errc::limit);
}

TEST(AcmeService, MakesAFirstCertificateOnce) {
    const ScratchFolder folder;
    const AcmeFiles files = files_beside(folder.file("srs.pid"));
    EXPECT_EQ(files.certificate, folder.file("srs.acme.pem"));
    MUST(make_first_certificate(files));
    const std::string pem = MUST(read_private_file(files.certificate));
    EXPECT_TRUE(MUST(engine::acme::facts_of_certificate(pem)).is_self_signed);
    EXPECT_TRUE(engine::acme::belongs_to(pem, pem));
    EXPECT_EQ(rights_of(files.certificate), 0600U);
    MUST(make_first_certificate(files));
    EXPECT_EQ(MUST(read_private_file(files.certificate)), pem);
}

TEST(AcmeOptions, ChecksNamesAndTerms) {
    const auto is_good = [](const AcmeOptions& options) { return check_acme_options(options, {}).error.empty(); };
    AcmeOptions options;
    EXPECT_TRUE(is_good(options)) << "off";
    options.enabled = options.accept_terms = true;
    EXPECT_FALSE(is_good(options)) << "no domain";
    options.domains = {"live.example.com"};
    EXPECT_TRUE(is_good(options));
    EXPECT_EQ(directory_of(options), "https://acme-v02.api.letsencrypt.org/directory");
    options.staging = true;
    EXPECT_EQ(directory_of(options), "https://acme-staging-v02.api.letsencrypt.org/directory");
    options.domains = {"*.example.com"};
    EXPECT_FALSE(is_good(options));
    options.domains = {"live.example.com"};
    options.email = "a\"b@c";
    EXPECT_FALSE(is_good(options));
    options.email = "a@b";
    options.directory = "ftp://x";
    EXPECT_FALSE(is_good(options));
    options.directory.clear();
    options.accept_terms = false;
    EXPECT_FALSE(is_good(options));
}

}  // namespace
}  // namespace live::service::acme
