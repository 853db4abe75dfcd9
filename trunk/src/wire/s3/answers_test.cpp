#include "wire/s3/answers.hpp"

#include <gtest/gtest.h>

#include "wire/s3/answers_vectors.hpp"

namespace live::wire::s3 {
namespace {

TEST(S3Answers, ReadsARefusal) {
    const Refusal refusal = read_refusal(kSlowDownAnswer);
    EXPECT_EQ(refusal.code, "SlowDown");
    EXPECT_EQ(refusal.message, "Please reduce your request rate & wait.");
    EXPECT_EQ(read_refusal("<html><body>502</body></html>").code, "");
    EXPECT_EQ(read_refusal("").code, "");
}

TEST(S3Answers, ReadsAnUploadId) {
    EXPECT_EQ(MUST(read_upload_id(kCreatedAnswer)), "VXBsb2FkIElEIGZvciA2aWWpbmcncyBteS1tb3ZpZS5tMnRzIHVwbG9hZA");
    EXPECT_EQ(read_upload_id("<InitiateMultipartUploadResult><UploadId/></InitiateMultipartUploadResult>").code(),
              Errc::malformed);
    EXPECT_EQ(read_upload_id(kSlowDownAnswer).code(), Errc::malformed);
}

TEST(S3Answers, ReadsACompletionAndTheErrorInItsPlace) {
    EXPECT_EQ(MUST(read_completed(kCompletedAnswer)), "3858f62230ac3c915f300c664312c11f-9");
    const auto failed = read_completed(kSlowDownAnswer);
    EXPECT_EQ(failed.code(), Errc::denied);
    EXPECT_EQ(failed.error().sentence(), "SlowDown");
    EXPECT_EQ(read_completed("<CompleteMultipartUploadResult><ETag>\"\"</ETag></CompleteMultipartUploadResult>").code(),
              Errc::malformed);
}

TEST(S3Answers, ReadsAPageOfParts) {
    const PartPage page = MUST(read_part_page(kPartsAnswer));
    EXPECT_TRUE(page.is_truncated);
    EXPECT_EQ(page.next, 3U);
    ASSERT_EQ(page.parts.size(), 2U);
    EXPECT_EQ(page.parts[0], (ListedPart{2, "7778aef83f66abc1fa1e8477f296d394", 10'485'760}));
    EXPECT_EQ(page.parts[1], (ListedPart{3, "aaaa18db4cc2f85cedef654fccc4a4x8", 10'485'761}));
    EXPECT_TRUE(MUST(read_part_page("<ListPartsResult></ListPartsResult>")).parts.empty());
    EXPECT_TRUE(MUST(read_part_page("<ListPartsResponse></ListPartsResponse>")).parts.empty()) << "moto 5.2";
    EXPECT_FALSE(read_part_page(kSlowDownAnswer).ok());
}

TEST(S3Answers, RefusesPartsThatWouldNeverEndOrNameNothing) {
    const auto page = [](const std::string& inside) { return "<ListPartsResult>" + inside + "</ListPartsResult>"; };
    EXPECT_FALSE(read_part_page(page("<IsTruncated>true</IsTruncated>")).ok());
    EXPECT_FALSE(read_part_page(page("<IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker>"
                                     "<Part><PartNumber>2</PartNumber><ETag>a</ETag></Part>"))
                     .ok());
    for (const char* number : {"0", "10001", "-1", "x", "99999999999"})
        EXPECT_FALSE(read_part_page(page("<Part><PartNumber>" + std::string(number) + "</PartNumber><ETag>a</ETag></Part>")).ok())
            << number;
    EXPECT_FALSE(read_part_page(page("<Part><PartNumber>1</PartNumber></Part>")).ok());
}

TEST(S3Answers, RefusesEveryTruncation) {
    for (const std::string_view answer : kAnswers)
        for (std::size_t size = 0; size < answer.size(); ++size)
            EXPECT_FALSE(read_elements(answer.substr(0, size)).ok()) << answer.substr(0, size);
}

TEST(S3Answers, HasBounds) {
    std::string deep, many = "<a>";
    for (int i = 0; i <= kDepthMax; ++i)
        deep += "<a>";
    for (std::size_t i = 0; i < kElementsMax; ++i)
        many += "<b/>";
    EXPECT_EQ(read_elements(deep).code(), Errc::limit);
    EXPECT_EQ(read_elements(many + "</a>").code(), Errc::limit);
    EXPECT_EQ(read_elements("<a></b>").code(), Errc::malformed);
    EXPECT_EQ(read_elements("<>").code(), Errc::malformed);
}

TEST(S3Answers, WritesTheListOfACompletion) {
    const auto elements = MUST(read_elements(completion_text({"aa", "bb"})));
    const std::vector<Element> expected = {{0, "CompleteMultipartUpload", ""},
                                           {1, "Part", ""},
                                           {2, "PartNumber", "1"},
                                           {2, "ETag", "\"aa\""},
                                           {1, "Part", ""},
                                           {2, "PartNumber", "2"},
                                           {2, "ETag", "\"bb\""}};
    EXPECT_EQ(elements, expected);
}

}  // namespace
}  // namespace live::wire::s3
