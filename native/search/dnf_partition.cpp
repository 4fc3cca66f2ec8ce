#include "search/dnf_partition.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "base/random.hpp"

namespace rulewright {
namespace {

constexpr std::uint64_t kPurpose = 2;  // of the random numbers

// The parts of one restart, each as the values that its rows share and the variables they share.
class Parts {
  public:
    explicit Parts(const PartitionTask& task)
        : task_(task),
          n_words_(task.positives.n_words),
          used_(task.n_parts),
          values_(task.n_parts * n_words_),
          shared_(task.n_parts * n_words_),
          joint_(n_words_) {}

    bool used(std::size_t part) const { return used_[part] != 0; }

    // Whether the part may take in the row without covering a negative.
    bool accepts(std::size_t part, const Bits* row) {
        const Bits* values = values_.data() + part * n_words_;
        const Bits* shared = shared_.data() + part * n_words_;
        for (std::size_t w = 0; w < n_words_; ++w) joint_[w] = shared[w] & ~(values[w] ^ row[w]);
        for (std::size_t i = 0; i < task_.negatives.n_rows; ++i) {
            const Bits* negative = task_.negatives.row(i);
            Bits differs = 0;
            for (std::size_t w = 0; w < n_words_; ++w) {
                differs |= (negative[w] ^ values[w]) & joint_[w];
            }
            if (differs == 0) return false;
        }
        return true;
    }

    void take(std::size_t part, const Bits* row) {
        Bits* values = values_.data() + part * n_words_;
        Bits* shared = shared_.data() + part * n_words_;
        for (std::size_t w = 0; w < n_words_; ++w) {
            shared[w] = used(part) ? shared[w] & ~(values[w] ^ row[w]) : ~Bits{0};
            if (!used(part)) values[w] = row[w];
        }
        used_[part] = 1;
    }

  private:
    const PartitionTask& task_;
    std::size_t n_words_;
    std::vector<std::uint8_t> used_;
    std::vector<Bits> values_, shared_, joint_;
};

// Returns no parts when a row finds none that is open to it.
std::vector<std::int32_t> try_partition(const PartitionTask& task, std::uint64_t restart) {
    RandomStream random(task.seed, kPurpose, restart);
    const std::size_t n = task.positives.n_rows;
    std::vector<std::size_t> order(n), open;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<std::int32_t> found(n);
    Parts parts(task);
    for (std::size_t i = 0; i < n; ++i) {
        std::swap(order[i], order[i + random.below(n - i)]);
        const Bits* row = task.positives.row(order[i]);
        bool fresh = true;
        open.clear();
        for (std::size_t part = 0; part < task.n_parts; ++part) {
            if (parts.used(part) ? parts.accepts(part, row) : fresh) open.push_back(part);
            if (!parts.used(part)) fresh = fresh && !task.one_new;
        }
        if (open.empty()) return {};
        const std::size_t part = open[random.below(open.size())];
        parts.take(part, row);
        found[order[i]] = static_cast<std::int32_t>(part);
    }
    return found;
}

}  // namespace

FoundPartition find_partition(const PartitionTask& task, std::uint64_t first_restart,
                              std::uint64_t n_restarts, int n_threads) {
    std::atomic<std::uint64_t> first{n_restarts};
    parallel_for(n_restarts, n_threads, [&](std::size_t i) {
        if (i > first.load() || try_partition(task, first_restart + i).empty()) return;
        std::uint64_t seen = first.load();
        while (i < seen && !first.compare_exchange_weak(seen, i)) {
        }
    });
    if (first == n_restarts) return {};
    const std::uint64_t restart = first_restart + first;
    return {static_cast<std::int64_t>(restart), try_partition(task, restart)};
}

}  // namespace rulewright
