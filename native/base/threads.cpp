#include "base/threads.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "base/portable.hpp"

namespace rulewright {
namespace {

// Held, but not touched, while a thread starts and freed for what the thread itself needs. More
// than 32 MB always come from the system and go back to it, where the thread can get them.
constexpr std::size_t kReserve = std::size_t{33} << 20;

// Work often follows work: a thread that looks for it for a short while need not be woken, which
// may take longer than the work. The clock is read after so many looks.
constexpr std::chrono::microseconds kPatience{300};
constexpr int kLooks = 64;

class Helper {
  public:
    // Returns none when the system refuses.
    static Helper* start() noexcept {
        try {
            auto helper = std::make_unique<Helper>();
            helper->reserve_ = std::make_unique_for_overwrite<char[]>(kReserve);
            std::thread([h = helper.get()] { h->serve(); }).detach();
            helper->wait_while(kStarting);
            return helper.release();
        } catch (const std::exception&) {
            return nullptr;
        }
    }

    void post(Work& work) {
        work_ = &work;
        change(kPosted);
    }
    // A helper that did not begin is not waited for: the work is done.
    void finish() {
        int posted = kPosted;
        if (!state_.compare_exchange_strong(posted, kIdle)) wait_while(kRunning);
    }

    Helper* next = nullptr;  // in the list of idle helpers or of a team

  private:
    enum State : int { kStarting, kIdle, kPosted, kRunning };

    [[noreturn]] void serve() {
        reserve_.reset();
        prepare_to_throw();
        change(kIdle);
        while (true) {
            wait_while(kIdle);
            int posted = kPosted;
            if (!state_.compare_exchange_strong(posted, kRunning)) continue;
            work_->run();
            change(kIdle);
        }
    }
    void change(State state) {
        state_.store(state, std::memory_order_release);
        state_.notify_one();
    }
    void wait_while(int state) const {
        const auto end = std::chrono::steady_clock::now() + kPatience;
        do {
            for (int i = 0; i < kLooks; ++i) {
                if (state_.load(std::memory_order_acquire) != state) return;
                pause();
            }
        } while (std::chrono::steady_clock::now() < end);
        state_.wait(state, std::memory_order_acquire);
    }

    std::atomic<int> state_{kStarting};
    Work* work_ = nullptr;
    std::unique_ptr<char[]> reserve_;
};

// Helpers that have nothing to do. They live as long as the process, so the list is never
// destroyed.
class IdleHelpers {
  public:
    static IdleHelpers& all() {
        static auto& idle = *new IdleHelpers;
        return idle;
    }

    Helper* take() {
        const std::lock_guard lock(mutex_);
        Helper* helper = first_;
        if (helper != nullptr) first_ = helper->next;
        return helper;
    }
    void give_back(Helper* helper) {
        const std::lock_guard lock(mutex_);
        helper->next = first_;
        first_ = helper;
    }

  private:
    std::mutex mutex_;
    Helper* first_ = nullptr;
};

}  // namespace

void share(Work& work, std::size_t n_helpers) {
    IdleHelpers& idle = IdleHelpers::all();
    Helper* team = nullptr;
    for (std::size_t i = 0; i < n_helpers; ++i) {
        Helper* helper = idle.take();
        if (helper == nullptr) helper = Helper::start();
        if (helper == nullptr) break;
        helper->next = team;
        team = helper;
        helper->post(work);
    }
    work.run();
    while (team != nullptr) {
        Helper* helper = team;
        team = helper->next;
        helper->finish();
        idle.give_back(helper);
    }
}

}  // namespace rulewright
