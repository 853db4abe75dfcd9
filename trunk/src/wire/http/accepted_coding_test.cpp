#include "wire/http/accepted_coding.hpp"

#include <gtest/gtest.h>

namespace live::wire::http {
namespace {

TEST(AcceptedCoding, ReadsNamesAndWeights) {
    for (const char* text : {"gzip", "GZip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.8, *;q=0.1", "deflate,gzip ; q=0.001", "*",
                             "identity;q=0, *", ",,gzip", "gzip;Q=1"})
        EXPECT_TRUE(accepts_coding(text, "gzip")) << text;
    for (const char* text : {"", "br", "identity", "gzip;q=0", "gzip;q=0.000", "*, gzip;q=0", "*;q=0", "gzipped", "x-gzip",
                             "g zip", "gzip;q=", "gzip;q=x", "gzip;level=1", "gzip;q=0.00000001", ";gzip", "gzip;q"})
        EXPECT_FALSE(accepts_coding(text, "gzip")) << text;
}

TEST(AcceptedCoding, SurvivesTruncation) {
    const std::string_view whole = "br;q=1.0, gzip;q=0.8, *;q=0.1";
    for (std::size_t size = 0; size <= whole.size(); ++size)
        EXPECT_EQ(accepts_coding(whole.substr(0, size), "gzip"), size == 14 || size == 15 || size >= 20) << size;
}

}  // namespace
}  // namespace live::wire::http
