// Signal: "something happened, check again". The dry side raises it; the wet side (io::wait) waits on it. A raise is remembered
// until it is consumed, so one that comes between checking and sleeping is not lost. It is not a counter and carries no data.
#pragma once

namespace live {

class Signal {
public:
    // Waits on a Signal. Implemented by the wet side; `on_raised` must not suspend.
    class Waiter {
    public:
        virtual void on_raised() = 0;

    protected:
        ~Waiter() = default;
    };

    Signal() = default;
    Signal(const Signal&) = delete;
    Signal& operator=(const Signal&) = delete;

    void raise() {
        raised_ = true;
        if (waiter_ != nullptr)
            waiter_->on_raised();
    }
    // True once per raise.
    bool consume() {
        const bool was = raised_;
        raised_ = false;
        return was;
    }
    bool is_raised() const { return raised_; }

    // At most one waiter at a time: a signal belongs to one session. nullptr removes it.
    void set_waiter(Waiter* waiter) { waiter_ = waiter; }
    bool has_waiter() const { return waiter_ != nullptr; }

private:
    Waiter* waiter_ = nullptr;
    bool raised_ = false;
};

}  // namespace live
