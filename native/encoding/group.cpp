#include "encoding/group.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

namespace rulewright {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargestWhole = 0x1p53;
constexpr std::int64_t kLargestTotal = std::int64_t{1} << 62;

// Values as whole multiples of 1 / factor, rounded half away from zero.
class Multiples {
  public:
    explicit Multiples(double factor)
        : factor_(factor),
          bound_(std::min(kLargestWhole / factor, std::numeric_limits<double>::max())),
          least_(0.25 / factor) {}

    std::int64_t operator()(double x) const {
        if (x >= bound_) return std::int64_t{1} << 53;
        if (x <= -bound_) return -(std::int64_t{1} << 53);
        if (std::abs(x) < least_) return 0;
        // without a branch: signs are as good as random
        return static_cast<std::int64_t>(x * factor_ + std::copysign(0.5, x));
    }

  private:
    double factor_, bound_, least_;
};

struct Sums {
    std::int64_t total = 0;  // modulo 2^64
    double least = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();
    std::size_t count = 0;
};

// Adds modulo 2^64; was the sum beyond what a signed number holds?
bool add_wrapping(std::int64_t& sum, std::int64_t x) {
    const std::int64_t before = sum;
    sum =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(x));
    return ((before ^ sum) & (x ^ sum)) < 0;
}

// Rounds to a whole number; halves do not matter to the caller.
double rounded(double x) {
    constexpr double shift = 0x1.8p52;
    return std::abs(x) < 0x1p51 ? (x + shift) - shift : std::nearbyint(x);
}

bool has_digits(double x, double power) { return rounded(x * power) / power == x; }

}  // namespace

void summarise_groups(const GroupedRows& entries, const double* values, double factor,
                      std::span<GroupSummary> groups) {
    const Multiples multiple(factor);
    std::vector<Sums> sums(groups.size());
    std::unordered_map<Row, std::int64_t> carries;  // of 2^64; rare
    for (std::size_t i = 0; i < entries.groups.size(); ++i) {
        const double x = values[entries.row(i)];
        if (std::isnan(x)) continue;
        Sums& sum = sums[entries.groups[i]];
        const std::int64_t m = multiple(x);
        if (add_wrapping(sum.total, m)) carries[entries.groups[i]] += m < 0 ? -1 : 1;
        sum.least = std::min(sum.least, x);
        sum.largest = std::max(sum.largest, x);
        ++sum.count;
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const Sums& sum = sums[g];
        const bool any = sum.count > 0;
        std::int64_t total = std::clamp(sum.total, -kLargestTotal, kLargestTotal);
        if (const auto carry = carries.find(static_cast<Row>(g)); carry != carries.end()) {
            if (carry->second != 0) total = carry->second < 0 ? -kLargestTotal : kLargestTotal;
        }
        groups[g] = {static_cast<double>(sum.count), any ? sum.least : kNaN,
                     any ? sum.largest : kNaN, static_cast<double>(total)};
    }
}

void count_at_least(const GroupedRows& entries, const double* values, std::span<const double> cuts,
                    std::uint32_t* counts) {
    for (std::size_t i = 0; i < entries.groups.size(); ++i) {
        const double x = values[entries.row(i)];
        std::uint32_t* group = counts + entries.groups[i] * cuts.size();
        for (std::size_t c = 0; c < cuts.size(); ++c) group[c] += x >= cuts[c] ? 1 : 0;
    }
}

void last_values(const GroupedRows& entries, const double* values, const double* times,
                 std::span<double> last) {
    std::vector<double> latest(last.size(), -std::numeric_limits<double>::infinity());
    std::fill(last.begin(), last.end(), kNaN);
    for (std::size_t i = 0; i < entries.groups.size(); ++i) {
        const double x = values[entries.row(i)], time = times[i];
        if (std::isnan(x) || std::isnan(time)) continue;
        const Row g = entries.groups[i];
        const bool later = time > latest[g] || std::isnan(last[g]);
        if (later || (time == latest[g] && x > last[g])) last[g] = x;
        if (later) latest[g] = time;
    }
}

void middle_values(const GroupedRows& entries, const double* values, std::span<double> middle) {
    std::vector<std::size_t> ends(middle.size() + 1);
    for (std::size_t i = 0; i < entries.groups.size(); ++i) {
        if (!std::isnan(values[entries.row(i)])) ++ends[entries.groups[i] + 1];
    }
    for (std::size_t g = 1; g < ends.size(); ++g) ends[g] += ends[g - 1];
    std::vector<double> sorted(ends.back());
    for (std::size_t i = 0; i < entries.groups.size(); ++i) {
        const double x = values[entries.row(i)];
        if (!std::isnan(x)) sorted[ends[entries.groups[i]]++] = x;
    }
    std::size_t begin = 0;  // the ends moved on by one group
    for (std::size_t g = 0; g < middle.size(); begin = ends[g++]) {
        const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto n = static_cast<std::ptrdiff_t>(ends[g] - begin);
        middle[g] = kNaN;
        if (n == 0) continue;
        const auto upper = first + n / 2;
        std::nth_element(first, upper, first + n);
        const double low = n % 2 == 1 ? *upper : *std::max_element(first, upper);
        middle[g] = low * 0.5 + *upper * 0.5;
    }
}

ValueFacts value_facts(std::span<const Row> rows, std::span<const double> values, int most) {
    const std::size_t n = rows.empty() ? values.size() : rows.size();
    std::vector<double> powers;
    for (int digits = 0; digits <= most; ++digits) powers.push_back(std::pow(10.0, digits));
    ValueFacts facts{-1, std::numeric_limits<double>::infinity(), 0};
    for (std::size_t i = 0; i < n; ++i) {
        const double x = values[rows.empty() ? i : rows[i]];
        if (std::isnan(x)) continue;
        facts.size = std::max(facts.size, std::abs(x));
        facts.least = std::min(facts.least, x);
        if (facts.digits > most || has_digits(x, powers[static_cast<std::size_t>(facts.digits)])) {
            continue;
        }
        int digits = 0;  // a large number may be whole, and yet not whole times a power of ten
        while (digits <= most && !has_digits(x, powers[static_cast<std::size_t>(digits)])) ++digits;
        facts.digits = std::max(facts.digits, digits);
    }
    return facts;
}

}  // namespace rulewright
