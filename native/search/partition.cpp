#include "search/partition.hpp"

#include <numeric>

#include "search/count.hpp"

namespace rulewright {

BlockSearch::BlockSearch(const ColumnKinds& columns, std::vector<std::size_t> starts,
                         std::size_t lanes, bool keeps_roots)
    : starts_(std::move(starts)),
      stride_(lanes),
      lanes_{0, lanes, lanes, false},
      histogram_(columns, lanes) {
    if (keeps_roots) roots_.emplace(columns, starts_, lanes, kMostBits);
}

template <class Code>
void BlockSearch::count(const Columns<Code>& columns, const Stat* stats) {
    if (!roots_) return;
    for (std::size_t b = 0; b < n_blocks(); ++b) {  // one by one, so that buffers stay small
        std::vector<Row> rows(starts_[b + 1] - starts_[b]);
        std::iota(rows.begin(), rows.end(), static_cast<Row>(starts_[b]));
        roots_->remember(rows, nullptr, 1);
        roots_->follow(columns, stats, 1);
    }
}

void BlockSearch::remember(std::span<const Row> rows, const Stat* stats) {
    if (roots_) roots_->remember(rows, stats, 1);
}

template <class Code>
void BlockSearch::follow(const Columns<Code>& columns, const Stat* stats) {
    if (roots_) roots_->follow(columns, stats, 1);
}

template <class Code>
const Histogram& BlockSearch::start(const Columns<Code>& columns, const Stat* stats,
                                    std::span<const std::uint8_t> chosen, const Lanes& lanes) {
    lanes_ = lanes;
    ranges_.clear();
    cover_.n = 0;
    for (std::size_t b = 0; b < n_blocks(); ++b) {
        if (chosen[b] != 0) ranges_.push_back({starts_[b], starts_[b + 1]});
    }
    histogram_.reshape(columns, lanes.used());
    other_.reshape(columns, lanes.used());
    if (roots_) {
        read_roots(columns, chosen);
        return histogram_;
    }
    for (const RowRange& range : ranges_) {
        cover_.reserve(cover_.n + range.to - range.from);
        const auto begin = cover_.rows.begin() + static_cast<std::ptrdiff_t>(cover_.n);
        cover_.n += range.to - range.from;
        std::iota(begin, cover_.rows.begin() + static_cast<std::ptrdiff_t>(cover_.n),
                  static_cast<Row>(range.from));
    }
    gather(stats, lanes_, cover_, 1);
    set(columns, cover_, histogram_);
    return histogram_;
}

template <class Code>
const Histogram& BlockSearch::narrow(const Columns<Code>& columns, const Stat* stats,
                                     const CodeTest& test) {
    if (ranges_.empty()) {
        refine(columns, test, cover_, dropped_, 1);
    } else {
        refine(columns, test, ranges_, cover_, dropped_, 1);
        ranges_.clear();
    }
    const bool few = cover_.n <= dropped_.n;  // the smaller side is counted
    Cover& counted = few ? cover_ : dropped_;
    gather(stats, lanes_, counted, 1);
    set(columns, counted, few ? histogram_ : other_);
    if (!few) histogram_.subtract(other_, 0, columns.n_columns());
    return histogram_;
}

template <class Code>
void BlockSearch::set(const Columns<Code>& columns, const Cover& counted,
                      Histogram& histogram) const {
    for (const Part& part : columns.parts) count_part(columns, part, counted, histogram);
}

void BlockSearch::read_roots(const ColumnKinds& columns, std::span<const std::uint8_t> chosen) {
    if (lanes_.used() == stride_) {
        roots_->sum(chosen, 0, columns.n_columns(), histogram_);
        return;
    }
    Histogram all(columns, stride_);
    roots_->sum(chosen, 0, columns.n_columns(), all);
    const std::size_t n_codes = all.size() / stride_;
    for (std::size_t code = 0; code < n_codes; ++code) {
        lanes_.pick(all.sums().data() + code * stride_,
                    histogram_.sums().data() + code * lanes_.used());
    }
}

template void BlockSearch::count(const Columns<std::uint8_t>&, const Stat*);
template void BlockSearch::follow(const Columns<std::uint8_t>&, const Stat*);
template const Histogram& BlockSearch::start(const Columns<std::uint8_t>&, const Stat*,
                                             std::span<const std::uint8_t>, const Lanes&);
template const Histogram& BlockSearch::narrow(const Columns<std::uint8_t>&, const Stat*,
                                              const CodeTest&);
template void BlockSearch::count(const Columns<std::uint16_t>&, const Stat*);
template void BlockSearch::follow(const Columns<std::uint16_t>&, const Stat*);
template const Histogram& BlockSearch::start(const Columns<std::uint16_t>&, const Stat*,
                                             std::span<const std::uint8_t>, const Lanes&);
template const Histogram& BlockSearch::narrow(const Columns<std::uint16_t>&, const Stat*,
                                              const CodeTest&);

}  // namespace rulewright
