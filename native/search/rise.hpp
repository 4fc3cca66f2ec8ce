// RISE (Domingos, 1996): rules start as the training rows, and each in turn is generalised to the
// nearest row of its class that it does not cover, as long as accuracy on rows left out does not
// fall.
//
// Every row keeps its winner and the distance to it. A generalised rule can only come nearer, so a
// row is looked at again only where the new distance is at most that of its winner. A row that is
// alone, that is, has no copy, is not classified by its own rule unless that covers another row.
// Of equally near rules the one of higher Laplace accuracy wins, then that of the more frequent
// class, then the older one; ties are settled when distances are compared.
//
// Work is cut into steps: first one for each row (its winner), then one for each rule and pass.
// Cost: O(rows x columns) a step. Invariants: accuracy never falls, the number of rules never
// rises, the winners, won and correct weights and the accuracy always agree.
#pragma once

#include <vector>

#include "model/nearest.hpp"

namespace rulewright {

struct RiseRows {
    const double* values;  // n x columns, each row at a stride of its columns
    DistanceColumns columns;
    std::span<const std::int32_t> labels;
    std::span<const Stat> weights;
    std::span<const std::uint8_t> alone;
    std::span<const std::int32_t> ranks;  // of the classes, 0 for the most frequent one
    double unit;                          // weight of one row, in steps of the weights
    std::int64_t max_passes;              // -1: no limit

    std::size_t size() const { return labels.size(); }
    const double* row(std::size_t i) const { return values + i * columns.size(); }
};

class RiseSearch {
  public:
    explicit RiseSearch(const RiseRows& rows);

    // Takes so many steps; tells whether there are more.
    bool advance(std::uint64_t n_steps, int n_threads);

    Stat accuracy() const { return accuracy_; }
    Stat first_accuracy() const { return first_; }  // before any rule was generalised
    std::int64_t n_passes() const { return n_passes_; }
    std::vector<std::int32_t> alive() const;
    const std::vector<std::int32_t>& winners() const { return winners_; }
    const std::vector<double>& distances() const { return distances_; }
    const std::vector<Stat>& won() const { return won_; }
    const std::vector<Stat>& correct() const { return correct_; }
    const double* lows(std::size_t rule) const { return lows_.data() + rule * n_columns_; }
    const double* highs(std::size_t rule) const { return highs_.data() + rule * n_columns_; }

  private:
    struct Win {
        Row row;
        double distance;
    };

    std::vector<Gap> gaps(const double* low, const double* high) const;
    Win first_winner(std::size_t row) const;
    bool covers_another(std::size_t row) const;
    void generalise(std::size_t rule);
    std::int32_t nearest_uncovered(std::size_t rule) const;
    void stretch(std::size_t rule, const double* row);
    Stat claim(std::size_t rule);
    bool beats(std::size_t rule, std::int32_t winner) const;
    double laplace(std::size_t rule) const;
    bool is_right(std::size_t row) const;
    void win(std::size_t row, std::size_t rule, double distance);
    void merge(std::size_t rule);
    bool same(std::size_t one, std::size_t other) const;
    void end_pass();

    RiseRows rows_;
    std::size_t n_columns_, next_row_ = 0, next_rule_ = 0;
    std::vector<double> lows_, highs_;      // rules x columns
    std::vector<std::vector<Gap>> points_;  // the rules before any is generalised
    std::vector<std::int32_t> winners_;
    std::vector<double> distances_;
    std::vector<Stat> won_, correct_;
    std::vector<std::uint8_t> alive_;
    std::vector<std::int32_t> nearest_;  // kNone, kUnknown or the row a rule would be stretched to
    std::vector<double> low_, high_;     // of the rule that is tried
    std::vector<Win> taken_;             // what it would win
    Stat accuracy_ = 0, before_ = 0, first_ = 0;
    std::int64_t n_passes_ = 0;
    bool done_;
};

}  // namespace rulewright
