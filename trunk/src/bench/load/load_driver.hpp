// Another program drives a load (--driven): it writes words to standard input, a line each, and reads lines of JSON from standard
// output. `mark` begins a window, `report` tells it, `quit`, or the end of the input, ends the load. "ready" is said when every
// client plays or publishes, "final" by the run at the end. What the lines have is load_window.hpp's.
#pragma once

#include <string>
#include <string_view>

#include "base/signal.hpp"
#include "bench/load/load_window.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/socket.hpp"

namespace live::bench {

class LoadDriver {
public:
    // How often the clients are looked at, and the longest a word waits.
    static constexpr std::chrono::milliseconds kTick{5};

    // Both outlive this. `stop` is raised by `quit`.
    LoadDriver(LoadWindow& window, Signal& stop) : window_(window), stop_(stop) {}

    // Until it is cancelled.
    void run(io::Deadline deadline);
    // Writes the window as "final".
    void finish();

private:
    void take_words();
    void on_word(std::string_view word);

    LoadWindow& window_;
    Signal& stop_;
    io::Socket input_;
    std::string pending_;
    bool is_ready_ = false;
};

}  // namespace live::bench
