#include "service/ffmpeg/shared_library.hpp"

#include <gtest/gtest.h>

namespace live::service::ffmpeg {
namespace {

// The C library's own: present wherever we run.
constexpr unsigned kMathVersion = 6;
using Cosine = double (*)(double);

TEST(SharedLibrary, FindsFunctions) {
    SharedLibrary math("m", kMathVersion);
    Cosine cosine = nullptr;
    ASSERT_TRUE(math(cosine, "cos").result().ok());
    EXPECT_EQ(cosine(0), 1);
}

TEST(SharedLibrary, NamesTheFirstMissingFunction) {
    SharedLibrary math("m", kMathVersion);
    Cosine found = nullptr;
    Cosine missing = nullptr;
    math(missing, "no_such_function")(found, "cos")(missing, "nor_this");
    EXPECT_EQ(missing, nullptr);
    EXPECT_NE(found, nullptr);
    EXPECT_EQ(math.result().code(), Errc::unsupported);
    EXPECT_TRUE(math.result().error().sentence().starts_with("no_such_function cannot be loaded"));

    SharedLibrary absent("no_such_library", 1);
    Cosine any = nullptr;
    absent(any, "cos");
    EXPECT_EQ(any, nullptr);
    EXPECT_TRUE(absent.result().error().sentence().starts_with("libno_such_library.so.1 cannot be loaded"));
}

}  // namespace
}  // namespace live::service::ffmpeg
