// Loops that may run on several threads. Bodies must not throw and must not depend on the order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rulewright {

// A forked child has none of its parent's threads, and OpenMP would wait for them forever: the
// child works on one thread.
inline bool threads_allowed = true;

template <class Body>
void parallel_for(std::size_t n, int n_threads, const Body& body) {
#ifdef _OPENMP
    if (n_threads > 1 && n > 1 && threads_allowed) {
#pragma omp parallel for schedule(dynamic) num_threads(n_threads)
        for (std::size_t i = 0; i < n; ++i) body(i);
        return;
    }
#endif
    (void)n_threads;
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
