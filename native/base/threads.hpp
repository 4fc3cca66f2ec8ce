// Threads that help a caller with its work and are kept from call to call.
//
// A system that refuses to start another thread is no error: the work is done by those there are,
// in the worst case by the caller alone. No call allocates memory once its threads are started.
#pragma once

#include <cstddef>
#include <exception>

namespace rulewright {

// Lets the calling thread throw later even if memory has run out by then: the first exception of a
// thread needs memory of the thread's own, and the process ends when there is none.
inline void prepare_to_throw() {
    [[maybe_unused]] const volatile int asked = std::uncaught_exceptions();  // not optimised away
}

// A piece of work that any number of threads may do together. It must not throw.
struct Work {
    virtual void run() noexcept = 0;

  protected:
    ~Work() = default;
};

// Runs the work on the calling thread and on at most `n_helpers` others; returns when all are done.
void share(Work& work, std::size_t n_helpers);

}  // namespace rulewright
