// Loops that may run on several threads. Bodies must not depend on the order. What a body throws
// ends the loop and reaches the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>

#include "base/threads.hpp"

namespace rulewright {

// A forked child has none of its parent's threads: it works on one.
inline bool threads_allowed = true;

// More threads than this are not started, whatever the caller asks for.
inline constexpr int kMostThreads = 1024;

inline std::size_t count_threads(int asked) {
    return threads_allowed ? static_cast<std::size_t>(std::clamp(asked, 1, kMostThreads)) : 1;
}

// Threads take the next number until there is none left.
template <class Body>
class Loop final : public Work {
  public:
    Loop(std::size_t n, const Body& body) : n_(n), body_(body) {}

    void run() noexcept override {
        try {
            for (std::size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < n_;) body_(i);
        } catch (...) {
            next_.store(n_, std::memory_order_relaxed);
            if (!failed_.exchange(true)) error_ = std::current_exception();
        }
    }
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

  private:
    std::size_t n_;
    const Body& body_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> failed_{false};
    std::exception_ptr error_;  // the first
};

template <class Body>
void parallel_for(std::size_t n, int n_threads, const Body& body) {
    prepare_to_throw();
    const std::size_t threads = std::min(count_threads(n_threads), n);
    if (threads > 1) {
        Loop<Body> loop(n, body);
        share(loop, threads - 1);
        loop.rethrow();
        return;
    }
    for (std::size_t i = 0; i < n; ++i) body(i);
}

// A fixed cut of [0, n) into blocks: float sums are taken per block and then in block order, which
// makes them the same for any number of threads.
inline constexpr std::size_t kBlock = 4096;

inline std::size_t count_blocks(std::size_t n) { return (n + kBlock - 1) / kBlock; }

template <class Body>
void parallel_blocks(std::size_t n, int n_threads, const Body& body) {
    parallel_for(count_blocks(n), n_threads, [&](std::size_t block) {
        body(block, block * kBlock, std::min(n, (block + 1) * kBlock));
    });
}

}  // namespace rulewright
