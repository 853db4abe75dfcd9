#include "service/recordings/movies/kept_movies.hpp"

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::service::recordings {
namespace {

using io::kSoon;

KeptMovies::Movie movie_of(std::size_t header_bytes) {
    auto movie = std::make_shared<KeptMovie>();
    movie->header.assign(header_bytes, 7);
    movie->pieces = {{header_bytes, {0, 100, 1'000}}, {0, {1, 0, 50}}};
    return movie;
}

class KeptMoviesTest : public testing::Test {
protected:
    KeptMovies::Make make(std::size_t header_bytes = 100) {
        return [this, header_bytes](io::Deadline) -> Result<KeptMovies::Movie> {
            ++made_;
            return movie_of(header_bytes);
        };
    }
    // Ends with end_with().
    KeptMovies::Make slow() {
        return [this](io::Deadline deadline) -> Result<KeptMovies::Movie> {
            ++made_;
            TRY(io::wait(end_, deadline));
            return result_;
        };
    }
    Result<KeptMovies::Movie> find(const std::string& key, const KeptMovies::Make& make) {
        return movies_.find(key, make, io::Deadline::after(kSoon));
    }
    // Starts so many equal requests, whose answers are counted.
    void ask(int requests) {
        for (int i = 0; i < requests; ++i)
            MUST(fibers_.start("request", [this](io::Deadline forever) {
                const auto movie = movies_.find("a", slow(), forever);
                ++(movie.ok() ? answered_ : refused_);
                all_same_ = all_same_ && (!movie.ok() || *movie == *result_);
            }));
        io::wait_until([&] { return made_ == 1; });
    }
    void end_with(Result<KeptMovies::Movie> result) {
        result_ = std::move(result);
        end_.raise();
    }
    void join() { MUST(fibers_.join(io::Deadline::after(kSoon))); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    io::Scope fibers_{"requests"};
    KeptMovies movies_;
    Signal end_;
    Result<KeptMovies::Movie> result_ = movie_of(10);
    int made_ = 0;
    int answered_ = 0;
    int refused_ = 0;
    bool all_same_ = true;
};

TEST_F(KeptMoviesTest, EqualRequestsShareOneHeader) {
    ask(200);
    end_with(movie_of(10));
    join();
    EXPECT_EQ(made_, 1);
    EXPECT_EQ(answered_, 200);
    EXPECT_TRUE(all_same_);
    EXPECT_EQ(MUST(find("a", make()))->bytes(), 10U + 1'050U) << "later ones too";
    EXPECT_EQ(made_, 1);
    EXPECT_EQ(movies_.counts().made, 1U);
    EXPECT_EQ(movies_.counts().shared, 200U);
    EXPECT_EQ(MUST(find("b", make()))->header.size(), 100U) << "another key has its own";
}

TEST_F(KeptMoviesTest, ErrorIsThatOfAllWhoWait) {
    ask(5);
    end_with(Error(Errc::not_found, "there is nothing"));
    join();
    EXPECT_EQ(made_, 1);
    EXPECT_EQ(refused_, 5);
    EXPECT_EQ(movies_.size(), 0U);
    EXPECT_TRUE(find("a", make()).ok()) << "the next request tries again";
}

TEST_F(KeptMoviesTest, AnotherRequestMakesItWhenOneIsCancelled) {
    ask(3);
    end_with(Error(Errc::cancelled, "its client has left"));
    io::wait_until([&] { return made_ == 2; });
    EXPECT_EQ(refused_, 1);
    end_with(movie_of(10));
    join();
    EXPECT_EQ(made_, 2);
    EXPECT_EQ(answered_, 2);
}

TEST_F(KeptMoviesTest, RequestsThatEndWhileTheyWaitAreForgotten) {
    ask(4);
    MUST(fibers_.stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(refused_, 4);
    EXPECT_TRUE(find("a", make()).ok());
}

TEST_F(KeptMoviesTest, HeaderThatIsTooLargeIsNotKept) {
    const KeptMovies::Make none = [](io::Deadline) { return Result<KeptMovies::Movie>(KeptMovies::Movie()); };
    EXPECT_EQ(MUST(find("a", none)), nullptr);
    EXPECT_EQ(movies_.size(), 0U);
    EXPECT_EQ(movies_.counts().made, 0U);
}

TEST_F(KeptMoviesTest, KeepsTheLastUsedWithinBothLimits) {
    for (std::size_t i = 0; i <= KeptMovies::kMoviesMax; ++i) {
        MUST(find("first", make()));
        MUST(find(std::to_string(i), make()));
    }
    EXPECT_EQ(movies_.size(), KeptMovies::kMoviesMax);
    const int before = made_;
    MUST(find("first", make()));
    EXPECT_EQ(made_, before);
    MUST(find("0", make()));
    EXPECT_EQ(made_, before + 1) << "it was not used for the longest time";
    for (int i = 0; i < 10; ++i)
        MUST(find("large " + std::to_string(i), make(KeptMovies::kHeaderBytesMax)));
    EXPECT_LE(movies_.memory_bytes(), KeptMovies::kBytesMax);
    EXPECT_GE(movies_.memory_bytes(), KeptMovies::kBytesMax / 2);
}

}  // namespace
}  // namespace live::service::recordings
