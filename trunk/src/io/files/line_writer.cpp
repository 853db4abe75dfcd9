#include "io/files/line_writer.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

namespace live::io {

namespace {

// Memory kept for the next batch.
constexpr std::size_t kKeptBytes = 64 << 10;
constexpr std::size_t kRemarksMax = 16;

// Unwritten bytes of the log, for the signal handler, which takes no context argument.
std::atomic<const std::atomic<std::size_t>*> crash_waits_for = nullptr;

// Uses only async-signal-safe functions. The writer's thread continues meanwhile.
extern "C" void wait_for_log(int signal) {
    constexpr ::timespec kPause{0, 1'000'000};
    const std::atomic<std::size_t>* const unwritten = crash_waits_for.load();
    for (int i = 0; i < LineWriter::kCrashLimit.count() && unwritten != nullptr && unwritten->load() > 0; ++i)
        ::nanosleep(&kPause, nullptr);
    // The default action applies once this handler has returned.
    ::raise(signal);
}

std::uint64_t lines_in(std::string_view text) { return static_cast<std::uint64_t>(std::ranges::count(text, '\n')); }

}  // namespace

// State shared by the loop and the thread is under the mutex; the file and its state belong to the thread alone.
class LineWriter::Thread {
public:
    explicit Thread(Options options) : options_(std::move(options)), file_(options_.path, options_.standing, options_.rotation) {}

    Result<void> open() {
        TRY(file_.open());
        if (options_.opened)
            options_.opened(file_.native_handle());
        return {};
    }
    void run();

    void add(std::string_view line);
    void reopen();
    Counters counters() const;
    std::vector<std::string> take_remarks();
    bool wait_written(std::chrono::milliseconds limit);
    // Whether it has ended in time.
    bool stop(std::chrono::milliseconds limit);
    const std::string& name() const { return options_.thread_name; }
    const std::atomic<std::size_t>& unwritten() const { return unwritten_; }

    std::thread thread;

private:
    struct Batch {
        std::string text;
        std::optional<std::size_t> reopen_at;
        std::uint64_t lost = 0;  // after the last line of `text`
    };
    using Lock = std::unique_lock<std::mutex>;

    bool has_work() const { return !waiting_.text.empty() || waiting_.reopen_at || waiting_.lost > 0; }
    void take(Batch& batch);
    void write_batch(const Batch& batch);
    void write_out(std::string_view text);
    bool may_try_again(const Error& error, std::string_view& text);
    void rotate();
    void open_anew();
    void give_up(std::string_view text);
    void remark(std::string sentence);
    void write_remarks();

    const Options options_;

    mutable std::mutex mutex_;
    std::condition_variable wanted_;
    std::condition_variable done_;
    Batch waiting_;
    std::uint64_t lost_ = 0;
    std::size_t writing_bytes_ = 0;
    std::size_t batch_capacity_ = 0;
    std::vector<std::string> remarks_for_owner_;
    bool sleeps_ = false;  // the thread waits to be woken
    bool hurry_ = false;
    bool stopping_ = false;
    bool ended_ = false;
    std::atomic<std::size_t> unwritten_ = 0;  // size of the waiting text and `writing_bytes_`

    RotatedFile file_;
    bool is_failing_ = false;
    bool reopens_next_ = false;   // after the current write
    std::uint64_t given_up_ = 0;  // lines that the file did not take, not reported yet
    std::vector<std::string> remarks_;
};

void LineWriter::Thread::add(std::string_view line) {
    bool wake = false;
    {
        const Lock lock(mutex_);
        const std::size_t held = waiting_.text.size() + writing_bytes_;
        // After a lost line, all following lines are dropped until the loss is reported, so that the report is at the right
        // place.
        if (waiting_.lost > 0 || held + line.size() > options_.waiting_bytes_max) {
            ++waiting_.lost;
            ++lost_;
        } else {
            waiting_.text += line;
            unwritten_ = held + line.size();
        }
        wake = std::exchange(sleeps_, false);
        if (const std::size_t half = options_.waiting_bytes_max / 2; held < half && held + line.size() >= half)
            wake = hurry_ = true;
    }
    if (wake)
        wanted_.notify_one();
}

void LineWriter::Thread::reopen() {
    {
        const Lock lock(mutex_);
        waiting_.reopen_at = waiting_.text.size();
        hurry_ = true;
    }
    wanted_.notify_one();
}

LineWriter::Counters LineWriter::Thread::counters() const {
    const Lock lock(mutex_);
    return {lost_, waiting_.text.capacity() + batch_capacity_};
}

std::vector<std::string> LineWriter::Thread::take_remarks() {
    const Lock lock(mutex_);
    return std::exchange(remarks_for_owner_, {});
}

bool LineWriter::Thread::wait_written(std::chrono::milliseconds limit) {
    Lock lock(mutex_);
    hurry_ = true;
    wanted_.notify_one();
    return done_.wait_for(lock, limit, [this] { return !has_work() && writing_bytes_ == 0 && sleeps_; });
}

bool LineWriter::Thread::stop(std::chrono::milliseconds limit) {
    Lock lock(mutex_);
    stopping_ = true;
    wanted_.notify_one();
    return done_.wait_for(lock, limit, [this] { return ended_; });
}

void LineWriter::Thread::run() {
    Lock lock(mutex_);
    for (Batch batch;;) {
        if (!has_work()) {
            if (stopping_)
                break;
            sleeps_ = true;
            done_.notify_all();
            wanted_.wait(lock, [this] { return has_work() || stopping_; });
            sleeps_ = false;
            continue;
        }
        take(batch);
        lock.unlock();
        write_batch(batch);
        lock.lock();
        writing_bytes_ = 0;
        unwritten_ = waiting_.text.size();
        wanted_.wait_for(lock, kGather, [this] { return hurry_ || stopping_; });
        hurry_ = false;
    }
    ended_ = true;
    done_.notify_all();
}

// Under the mutex. The two strings are swapped.
void LineWriter::Thread::take(Batch& batch) {
    batch.text.clear();
    if (batch.text.capacity() > kKeptBytes)
        batch.text.shrink_to_fit();
    batch.text.swap(waiting_.text);
    batch.reopen_at = std::exchange(waiting_.reopen_at, std::nullopt);
    batch.lost = std::exchange(waiting_.lost, 0);
    batch_capacity_ = batch.text.capacity();
    writing_bytes_ = batch.text.size();
}

void LineWriter::Thread::write_batch(const Batch& batch) {
    const std::string_view text = batch.text;
    const std::size_t reopen_at = batch.reopen_at.value_or(text.size());
    reopens_next_ = batch.reopen_at.has_value();
    write_out(text.substr(0, reopen_at));
    if (std::exchange(reopens_next_, false))
        open_anew();
    write_out(text.substr(reopen_at));
    if (const std::uint64_t lost = batch.lost + std::exchange(given_up_, 0); lost > 0)
        remark(fmt::format("{} line{} lost here: not taken in time", lost, lost == 1 ? "" : "s"));
    write_remarks();
}

void LineWriter::Thread::write_out(std::string_view text) {
    while (!text.empty()) {
        std::size_t size = file_.fitting(text);
        if (size == 0) {
            rotate();
            size = std::max(file_.fitting(text), text.find('\n') + 1);
        }
        std::string_view rest = text.substr(0, size);
        const auto written = file_.write(rest);
        text.remove_prefix(size - rest.size());
        if (written.ok() && std::exchange(is_failing_, false))
            remark("it is written to again");
        if (!written.ok() && !may_try_again(written.error(), text))
            return give_up(text);
    }
}

// After a failed write: waits a while, or continues with a new file if the operator has requested a reopen.
bool LineWriter::Thread::may_try_again(const Error& error, std::string_view& text) {
    if (!std::exchange(is_failing_, true))
        remark(fmt::format("it takes nothing, and what does not fit into memory is lost: {}", error.sentence()));
    Lock lock(mutex_);
    if (stopping_)
        return false;
    if (!std::exchange(reopens_next_, false) && !std::exchange(waiting_.reopen_at, std::nullopt)) {
        wanted_.wait_for(lock, kRetry, [this] { return waiting_.reopen_at || stopping_; });
        return true;
    }
    lock.unlock();
    // The rest of a line whose beginning is in the old file is useless.
    if (file_.is_within_line()) {
        const std::size_t rest = text.find('\n') + 1;
        give_up(text.substr(0, rest));
        text.remove_prefix(rest);
    }
    open_anew();
    return true;
}

void LineWriter::Thread::give_up(std::string_view text) {
    given_up_ += lines_in(text);
    const Lock lock(mutex_);
    lost_ += lines_in(text);
}

void LineWriter::Thread::rotate() {
    const auto moved = file_.move_away();
    if (!moved.ok()) {
        file_.postpone_rotation();
        return remark(fmt::format("it is not rotated: {}", moved.error().sentence()));
    }
    if (*moved)
        open_anew();
}

void LineWriter::Thread::open_anew() {
    if (const auto opened = open(); !opened.ok()) {
        file_.postpone_rotation();
        remark(opened.error().sentence() + "; writing to the old file");
    }
}

void LineWriter::Thread::remark(std::string sentence) {
    if (options_.remark_line) {
        if (remarks_.size() < kRemarksMax)
            remarks_.push_back(std::move(sentence));
        return;
    }
    const Lock lock(mutex_);
    if (remarks_for_owner_.size() < kRemarksMax)
        remarks_for_owner_.push_back(std::move(sentence));
}

void LineWriter::Thread::write_remarks() {
    for (const std::string& sentence : std::exchange(remarks_, {}))
        write_out(options_.remark_line(sentence));
}

Result<std::unique_ptr<LineWriter>> LineWriter::create(Options options) {
    auto thread = std::make_shared<Thread>(std::move(options));
    TRY(thread->open());
    // Signals are handled by the loop; a thread inherits the mask of its creator.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread->thread = std::thread([thread] { thread->run(); });
    ::pthread_setname_np(thread->thread.native_handle(), thread->name().c_str());
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return std::make_unique<LineWriter>(Private{}, std::move(thread));
}

LineWriter::~LineWriter() {
    const bool has_ended = thread_->stop(kEndLimit);
    const auto* ours = &thread_->unwritten();
    crash_waits_for.compare_exchange_strong(ours, nullptr);
    if (has_ended)
        thread_->thread.join();
    else
        thread_->thread.detach();
}

void LineWriter::add(std::string_view line) { thread_->add(line); }
void LineWriter::reopen() { thread_->reopen(); }
LineWriter::Counters LineWriter::counters() const { return thread_->counters(); }
std::vector<std::string> LineWriter::take_remarks() { return thread_->take_remarks(); }
bool LineWriter::wait_written(std::chrono::milliseconds limit) { return thread_->wait_written(limit); }

void LineWriter::hold_crashes() {
    crash_waits_for = &thread_->unwritten();
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
        struct sigaction before {};
        if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL)
            continue;
        struct sigaction ours {};
        ours.sa_handler = wait_for_log;
        ours.sa_flags = static_cast<int>(SA_RESETHAND);
        ::sigaction(signal, &ours, nullptr);
    }
}

}  // namespace live::io
