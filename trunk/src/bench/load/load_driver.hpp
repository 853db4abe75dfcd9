// Another program controls a load (--driven): it writes commands to standard input, one per line, and reads lines of JSON from
// standard output. `mark` begins a window, `report` prints it, `quit`, or the end of the input, ends the load. The load prints
// "ready" when every client plays or publishes, and "final" at the end. load_window.hpp defines the fields of the lines.
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
    // The interval of the window's steps, and the longest delay of a command.
    static constexpr std::chrono::milliseconds kTick{5};

    // Both must outlive this. `quit` raises `stop`.
    LoadDriver(LoadWindow& window, Signal& stop) : window_(window), stop_(stop) {}

    // Runs until it is cancelled.
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
