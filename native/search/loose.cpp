#include "search/loose.hpp"

#include <cstring>

namespace rulewright {

template <std::size_t kLanes>
void Loose::forget() {
    const std::size_t lanes = kLanes ? kLanes : lanes_;
    for (std::size_t j = 0; j < width_; ++j) {
        Stat* sums = sums_.data() + first_sum_[j];
        for (std::size_t w = first_word_[j]; w < first_word_[j + 1]; ++w) {
            for (Bits left = seen_[w]; left != 0; left &= left - 1) {
                const std::size_t code = (w - first_word_[j]) * kWordBits +
                                         static_cast<std::size_t>(std::countr_zero(left));
                for (std::size_t lane = 0; lane < lanes; ++lane) sums[code * lanes + lane] = 0;
            }
            seen_[w] = 0;
        }
    }
}

void Loose::reshape(const ColumnKinds& columns, std::size_t group, std::size_t lanes) {
    width_ = 0;  // nothing to forget if there is no memory for more
    lanes_ = lanes;
    const std::size_t width = columns.width(group);
    for (std::size_t j = 0; j < width; ++j) {
        const auto n_codes = static_cast<std::size_t>(columns.n_bins[group * kGroup + j]) + 1;
        first_sum_[j + 1] = first_sum_[j] + n_codes * lanes;
        first_word_[j + 1] = first_word_[j] + count_words(n_codes);
    }
    if (sums_.size() < first_sum_[width]) sums_.resize(first_sum_[width]);
    if (seen_.size() < first_word_[width]) seen_.resize(first_word_[width]);
    width_ = width;
}

// kLanes = 0 means "known at run time"; constants let the compiler unroll.
template <std::size_t kLanes, class Code>
void Loose::add(const Code* codes, const Cover& cover) {
    const std::size_t lanes = kLanes ? kLanes : lanes_, width = width_;
    Stat* base[kGroup] = {};
    Bits* seen[kGroup] = {};
    for (std::size_t j = 0; j < width; ++j) {
        base[j] = sums_.data() + first_sum_[j];
        seen[j] = seen_.data() + first_word_[j];
    }
    const Stat* stats = cover.stats.data();
    for (const Row row : cover.covered()) {
        Code code[kGroup];
        std::memcpy(code, codes + std::size_t{row} * kGroup, sizeof(code));
        for (std::size_t j = 0; j < width; ++j) {
            Stat* sums = base[j] + code[j] * lanes;
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += stats[lane];
            set_bit(seen[j], code[j]);
        }
        stats += lanes;
    }
}

template <class Code>
void Loose::count(const Columns<Code>& columns, std::size_t group, const Cover& cover) {
    if (lanes_ == 2) {
        forget<2>();
    } else {
        forget<0>();
    }
    reshape(columns, group, cover.lanes);
    if (lanes_ == 2) {
        add<2>(columns.group(group), cover);
    } else {
        add<0>(columns.group(group), cover);
    }
}

template void Loose::count(const Columns<std::uint8_t>&, std::size_t, const Cover&);
template void Loose::count(const Columns<std::uint16_t>&, std::size_t, const Cover&);

}  // namespace rulewright
