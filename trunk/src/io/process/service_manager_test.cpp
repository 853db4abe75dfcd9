#include "io/process/service_manager.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace live::io {
namespace {

// The socket of a service manager.
class ServiceManagerTest : public testing::Test {
protected:
    ~ServiceManagerTest() override {
        ::close(socket_);
        if (!path_.empty() && path_.front() == '/')
            ::unlink(path_.c_str());
    }

    std::string listen(const std::string& path) {
        path_ = path;
        socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::memcpy(at.sun_path, path.data(), path.size());
        if (path.front() == '@')
            at.sun_path[0] = '\0';
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
        EXPECT_EQ(::bind(socket_, static_cast<sockaddr*>(static_cast<void*>(&at)), size), 0);
        return path;
    }
    // The next datagram, or nothing.
    std::string received() const {
        std::array<char, 256> text{};
        const ssize_t size = ::recv(socket_, text.data(), text.size(), 0);
        return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
    }

    std::string path_;
    int socket_ = -1;
};

TEST_F(ServiceManagerTest, SendsEachStateAsOneDatagram) {
    const ServiceManager manager(listen("/tmp/live_service_manager_test." + std::to_string(::getpid())));
    EXPECT_TRUE(manager.is_present());
    EXPECT_TRUE(manager.ready().ok());
    EXPECT_EQ(received(), "READY=1");
    EXPECT_TRUE(manager.reloading(TimePoint(std::chrono::milliseconds(1500))).ok());
    EXPECT_EQ(received(), "RELOADING=1\nMONOTONIC_USEC=1500000");
    EXPECT_TRUE(manager.main_process(4711).ok());
    EXPECT_EQ(received(), "MAINPID=4711");
    EXPECT_TRUE(manager.stopping().ok());
    EXPECT_EQ(received(), "STOPPING=1");
    EXPECT_EQ(received(), "");
}

TEST_F(ServiceManagerTest, SendsToAnAbstractName) {
    const ServiceManager manager(listen("@live_service_manager_test." + std::to_string(::getpid())));
    EXPECT_TRUE(manager.ready().ok());
    EXPECT_EQ(received(), "READY=1");
}

TEST(ServiceManager, SucceedsWithoutAManager) {
    const ServiceManager manager("");
    EXPECT_FALSE(manager.is_present());
    EXPECT_TRUE(manager.ready().ok());
    EXPECT_TRUE(manager.stopping().ok());
}

TEST(ServiceManager, FailsWithTheAddress) {
    EXPECT_EQ(ServiceManager("run/notify").ready().code(), Errc::malformed);
    EXPECT_EQ(ServiceManager("/" + std::string(sizeof(sockaddr_un::sun_path), 'x')).ready().code(), Errc::malformed);
    const auto nobody = ServiceManager("/tmp/live_service_manager_test.nobody").ready();
    EXPECT_EQ(nobody.code(), Errc::system);
    EXPECT_NE(nobody.error().sentence().find("/tmp/live_service_manager_test.nobody"), std::string::npos);
}

}  // namespace
}  // namespace live::io
