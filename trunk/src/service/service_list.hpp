// ServiceList: all services of the server, each after its dependencies. They start in that order and stop in reverse order.
#pragma once

#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "service/service.hpp"

namespace live::service {

class ServiceList {
public:
    // `log` outlives this, and the services outlive the calls.
    explicit ServiceList(const Log& log) : log_(log) {}
    void add(Service& service) { services_.push_back(&service); }

    // Stops at the first error; stop() must be called in any case.
    Result<void> start(io::Scope& fibers, io::Deadline deadline);
    Result<void> prepare(io::Deadline deadline);
    void apply(io::Deadline deadline);

    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan);
    void on_unpublished(const std::string& url);
    void on_stand_in(const session::ClientRequest& request, const session::StreamPlan& plan);
    void on_tick();

    // Errors are logged and delay nobody else. Listeners close first, then services that start work themselves: in list order.
    void close(io::Deadline deadline);
    void hand_over(io::Deadline deadline);
    void stop(io::Deadline deadline);

    std::vector<StreamHolder*> memory() const;
    // In list order.
    session::Protocols protocols() const;
    void write_metrics(MetricsText& text) const;

private:
    const Log& log_;
    std::vector<Service*> services_;
};

}  // namespace live::service
