#include "search/count.hpp"

#include <bit>
#include <cstring>

#include "base/parallel.hpp"
#include "base/portable.hpp"

namespace rulewright {
namespace {

// The rows to add: their places in the codes, and their statistics, `lanes` apart.
struct Counted {
    std::span<const Row> rows;
    const Stat* stats;
    std::size_t lanes;

    Counted some(std::size_t from, std::size_t n) const {
        return {rows.subspan(from, n), stats + from * lanes, lanes};
    }
    Counted from_lane(std::size_t lane) const { return {rows, stats + lane, lanes}; }

    template <class Code>
    void fetch_ahead(const Code* codes, std::size_t i) const {
        const Row row = rows[std::min(i + kAhead, rows.size() - 1)];
        prefetch(codes + std::size_t{row} * kGroup);
    }
};

// Fewer rows than these are not worth a second table, of words or of joint codes.
constexpr std::size_t kLeastRows = 1024;
constexpr std::size_t kLeastJointRows = 128;

// kLanes = 0 and kWidth = 0 mean "known at run time"; constants let the compiler unroll.
template <std::size_t kLanes, std::size_t kWidth, class Code>
void add_lanes(const Columns<Code>& columns, std::size_t group, const Counted& counted,
               Histogram& histogram) {
    const std::size_t lanes = kLanes ? kLanes : counted.lanes;
    const std::size_t width = kWidth ? kWidth : columns.width(group);
    const Code* codes = columns.group(group);
    Stat* base[kGroup] = {};
    for (std::size_t j = 0; j < width; ++j) base[j] = histogram.column(group * kGroup + j);

    const Stat* stats = counted.stats;
    for (std::size_t i = 0; i < counted.rows.size(); ++i) {
        counted.fetch_ahead(codes, i);
        Code code[kGroup];
        std::memcpy(code, codes + std::size_t{counted.rows[i]} * kGroup, sizeof(code));
        if constexpr (kLanes == 1) {
            for (std::size_t j = 0; j < width; ++j) base[j][code[j]] += *stats;
        } else if constexpr (kLanes == 2) {
            const Stat first = stats[0], second = stats[1];
            for (std::size_t j = 0; j < width; ++j) {
                Stat* sums = base[j] + code[j] * lanes;
                sums[0] += first;
                sums[1] += second;
            }
        } else {
            for (std::size_t j = 0; j < width; ++j) {
                Stat* sums = base[j] + code[j] * lanes;
                for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += stats[lane];
            }
        }
        stats += lanes;
    }
}

// Two lanes in one word: the second in the low bits, the first above it. Words add up as numbers
// do, and as many as `most` of them are told apart again.
class Packing {
  public:
    explicit Packing(const Reach& reach)
        : spare_(62 - width(reach.first) - width(reach.second)),
          shift_(width(reach.second) + spare_ / 2 + 1) {}

    using Word = std::uint64_t;

    bool pays() const { return spare_ >= 2 * width(kLeastRows); }
    std::size_t most() const { return std::size_t{1} << (spare_ / 2); }

    Word pack(const Stat* stats) const {
        return (static_cast<Word>(stats[0]) << shift_) + static_cast<Word>(stats[1]);
    }
    void unpack(Word word, Stat* sums) const {
        const int spare = 64 - shift_;
        const Stat second = static_cast<Stat>(word << spare) >> spare;
        sums[0] += static_cast<Stat>(word - static_cast<std::uint64_t>(second)) >> shift_;
        sums[1] += second;
    }

  private:
    static int width(std::uint64_t value) { return 64 - std::countl_zero(value); }

    int spare_, shift_;
};

// Two lanes that are too long for one word.
struct Pairs {
    struct Word {
        Stat first = 0, second = 0;
        void operator+=(const Word& other) {
            first += other.first;
            second += other.second;
        }
    };

    static std::size_t most() { return ~std::size_t{0}; }
    static Word pack(const Stat* stats) { return {stats[0], stats[1]}; }
    static void unpack(const Word& word, Stat* sums) {
        sums[0] += word.first;
        sums[1] += word.second;
    }
};

struct OneLane {
    using Word = Stat;
    static std::size_t most() { return ~std::size_t{0}; }
    static Word pack(const Stat* stats) { return *stats; }
    static void unpack(Word word, Stat* sums) { *sums += word; }
};

// A word for each joint code of a part: small enough to stay in the nearest cache.
template <class Packing>
class Tile {
  public:
    explicit Tile(const Packing& packing) : packing_(packing) {}

    void clear(std::span<const Joint> joints) {
        for (std::size_t j = 0; j < joints.size(); ++j) {
            std::fill_n(words_[j], joints[j].n_codes, Word{});
        }
    }

    template <std::size_t kWidth>
    void add(const std::uint8_t* bytes, std::size_t width, const Counted& counted) {
        const Stat* stats = counted.stats;
        for (std::size_t i = 0; i < counted.rows.size(); ++i) {
            counted.fetch_ahead(bytes, i);
            std::uint8_t code[kGroup];
            std::memcpy(code, bytes + std::size_t{counted.rows[i]} * kGroup, sizeof(code));
            const Word word = packing_.pack(stats);
            for (std::size_t j = 0; j < (kWidth ? kWidth : width); ++j) words_[j][code[j]] += word;
            stats += counted.lanes;
        }
    }

    // Adds the words of the j-th joint code to the histograms of its columns, from a lane on.
    void flush(std::size_t j, const Joint& joint, std::size_t lane, Histogram& histogram) {
        const std::size_t lanes = histogram.lanes();
        for (std::size_t i = joint.digits.size(); i-- > 1;) {
            const Digit& last = joint.digits[i];
            take_out(words_[j], last, histogram.column(last.column) + lane, lanes);
        }
        Stat* sums = histogram.column(joint.digits[0].column) + lane;
        for (std::size_t code = 0; code < joint.digits[0].n_codes; ++code, sums += lanes) {
            packing_.unpack(words_[j][code], sums);
        }
    }

  private:
    using Word = typename Packing::Word;

    // Adds the sums per code of the last digit, then sums the words over its codes.
    void take_out(Word* words, const Digit& last, Stat* sums, std::size_t lanes) {
        for (std::size_t code = 0; code < last.n_codes; ++code, sums += lanes) {
            const Word* run = words + code * last.stride;
            Word sum{};
            for (std::size_t i = 0; i < last.stride; ++i) sum += run[i];
            packing_.unpack(sum, sums);
        }
        for (std::size_t i = last.stride; i < last.stride * last.n_codes; ++i) {
            words[i % last.stride] += words[i];
        }
    }

    const Packing& packing_;
    Word words_[kGroup][256];
};

// Counts the lanes of a word, of which the first is given.
template <class Packing>
void add_tile(const Packing& packing, const Part& part, const std::uint8_t* bytes,
              const Counted& counted, std::size_t lane, Histogram& histogram) {
    Tile<Packing> tile(packing);
    const std::size_t width = part.joints.size(), n_rows = counted.rows.size();
    for (std::size_t from = 0; from < n_rows;) {
        const std::size_t n = std::min(packing.most(), n_rows - from);
        const Counted some = counted.some(from, n).from_lane(lane);
        tile.clear(part.joints);
        if (width == kGroup) {
            tile.template add<kGroup>(bytes, width, some);
        } else {
            tile.template add<0>(bytes, width, some);
        }
        for (std::size_t j = 0; j < width; ++j) tile.flush(j, part.joints[j], lane, histogram);
        from += n;
    }
}

// Counts pair after pair of lanes: the words of one stay in the nearest cache, those of all do not.
template <class Packing>
void add_pairs(const Packing& packing, const Part& part, const std::uint8_t* bytes,
               const Counted& counted, Histogram& histogram) {
    for (std::size_t lane = 0; lane < counted.lanes; lane += 2) {
        add_tile(packing, part, bytes, counted, lane, histogram);
    }
}

template <class Code>
void add_group(const Columns<Code>& columns, std::size_t group, const Counted& counted,
               Histogram& histogram) {
    const bool whole = columns.width(group) == kGroup;
    if (counted.lanes == 2 && whole) {
        add_lanes<2, kGroup>(columns, group, counted, histogram);
    } else if (counted.lanes == 2) {
        add_lanes<2, 0>(columns, group, counted, histogram);
    } else if (counted.lanes == 3 && whole) {
        add_lanes<3, kGroup>(columns, group, counted, histogram);
    } else if (counted.lanes == 1 && whole) {
        add_lanes<1, kGroup>(columns, group, counted, histogram);
    } else {
        add_lanes<0, 0>(columns, group, counted, histogram);
    }
}

}  // namespace

void gather(const Stat* stats, const Lanes& lanes, Cover& cover, int n_threads) {
    const std::size_t used = lanes.used();
    cover.reserve(cover.n, used);
    std::vector<Reach> reach(count_blocks(cover.n), Reach{0, 0});
    const auto pick = [&](std::size_t block, std::size_t from, std::size_t to) {
        Stat* target = cover.stats.data() + from * used;
        for (std::size_t i = from; i < to; ++i, target += used) {
            const Row soon = cover.rows[std::min(i + kAhead, to - 1)];
            prefetch(stats + soon * lanes.stride);
            lanes.pick(stats + cover.rows[i] * lanes.stride, target);
        }
        reach[block] = reach_of(cover.stats.data() + from * used, to - from, used);
    };
    parallel_blocks(cover.n, n_threads, pick);
    cover.reach = {0, 0};
    for (const Reach& one : reach) cover.reach.join(one);
}

template <class Code>
void add_part(const Columns<Code>& columns, const Part& part, const Cover& cover, std::size_t from,
              std::size_t to, Histogram& histogram) {
    const Counted counted{std::span(cover.rows).subspan(from, to - from),
                          cover.stats.data() + from * cover.lanes, cover.lanes};
    const bool joint = !part.bytes.empty();
    const std::size_t least = joint ? kLeastJointRows : kLeastRows;
    if (cover.lanes == 1 && joint && to - from >= least) {
        add_tile(OneLane{}, part, part.bytes.data(), counted, 0, histogram);
        return;
    }
    if (cover.lanes % 2 == 0 && !part.joints.empty() && to - from >= least) {
        const Packing packing(cover.reach);
        const std::uint8_t* bytes = part.bytes.data();
        if constexpr (sizeof(Code) == 1) bytes = joint ? bytes : columns.group(part.first_group);
        if (packing.pays()) {
            add_pairs(packing, part, bytes, counted, histogram);
            return;
        }
        if (joint) {
            add_pairs(Pairs{}, part, bytes, counted, histogram);
            return;
        }
    }
    for (std::size_t group = part.first_group; group < part.last_group; ++group) {
        add_group(columns, group, counted, histogram);
    }
}

template void add_part(const Columns<std::uint8_t>&, const Part&, const Cover&, std::size_t,
                       std::size_t, Histogram&);
template void add_part(const Columns<std::uint16_t>&, const Part&, const Cover&, std::size_t,
                       std::size_t, Histogram&);

}  // namespace rulewright
