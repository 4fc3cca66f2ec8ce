// RISE (Domingos, 1996): rules start as the training rows, and each in turn is generalised to the
// nearest row of its class that it does not cover, as long as accuracy on rows left out does not
// fall.
//
// A row is left out when it is classified. To the rule that grew from it, and to those that were
// stretched to it, it has the distance that they would have without it: they are made by their
// makers, and keep what the others make. A row that has a copy is no maker. Of equally near rules
// the one of higher Laplace accuracy on the rows it covers (at distance 0) wins, then that of the
// more frequent class, then the older one.
//
// Every row keeps its winner and the distance to it. A generalised rule can only come nearer, so a
// row is looked at again only where the new distance is at most that of its winner, and meets all
// rules only where its winner became less accurate. Winners never move away either: a rule that was
// refused is tried in later passes on the rows that it came near to, and on no others.
// Of equal rules the older is kept; it is as near to a row as the nearer of them, so no row changes
// its class.
//
// Work is cut into steps: one for each rule (what it covers), one for each row (its winner), then
// one for each rule and pass. Cost: O(rows x columns) a step, and again for each row that meets all
// rules; O(rows near to it) where a rule is tried again. Invariants: the winners are those of the
// rules at any time, accuracy never falls, the number of rules never rises.
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
    std::int32_t rank(std::size_t i) const { return ranks[static_cast<std::size_t>(labels[i])]; }
    double laplace(Stat correct, Stat covered) const;
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
    const std::vector<Stat>& covered() const { return covered_; }
    const std::vector<Stat>& correct() const { return correct_; }  // of what is covered
    const double* lows(std::size_t rule) const { return lows_.data() + rule * n_columns_; }
    const double* highs(std::size_t rule) const { return highs_.data() + rule * n_columns_; }

  private:
    struct Win {
        Row row;
        std::int32_t rule;
        double distance;
    };
    struct Maker {
        Row row;
        std::vector<double> low, high;  // what the others make; nothing if there is no other
        double distance;                // of that
    };
    struct Near {
        Row row;
        double distance;
    };
    // What a rule would cover once it is generalised, and the rows at most as far from it as from
    // their winners.
    struct Attempt {
        bool known = false;
        Stat covered = 0, correct = 0;
        std::vector<Near> near;
    };
    struct Rule {
        std::vector<double> low, high;
        std::vector<Gap> gaps;  // its conditions
        std::vector<Maker> makers;
        Stat covered, correct;
        double laplace;
    };

    std::vector<Gap> gaps(const double* low, const double* high) const;
    std::size_t start(std::uint64_t n_steps, int n_threads);
    void measure(std::size_t rule);
    void choose(std::span<Win> wins) const;
    const Maker* maker(std::size_t rule, Row row) const;
    bool beats(std::size_t rule, std::int32_t other) const;
    void generalise(std::size_t rule);
    std::int32_t nearest_uncovered(std::size_t rule) const;
    void stretch(double* low, double* high, const double* row) const;
    void stretch_makers(std::size_t rule, std::size_t row);
    void make(std::size_t rule);
    void survey(std::size_t rule);
    void swap_tried(std::size_t rule);
    void keep(Attempt& attempt);
    void forget(Attempt& attempt);
    void look(std::size_t rule, double laplace);
    Stat claim();
    bool is_right(std::size_t row, std::int32_t rule) const;
    Stat change(const Win& win) const;
    void merge(std::size_t rule);
    bool same(std::size_t one, std::size_t other) const;
    void end_pass();

    RiseRows rows_;
    std::size_t n_columns_, n_started_ = 0, next_rule_ = 0;
    std::vector<double> lows_, highs_;    // rules x columns
    std::vector<std::vector<Gap>> gaps_;  // of the rules
    std::vector<std::vector<Maker>> makers_;
    std::vector<Stat> covered_, correct_;
    std::vector<double> laplace_;
    std::vector<std::uint8_t> alive_;
    std::vector<std::int32_t> nearest_;  // kNone, kUnknown or the row a rule would be stretched to
    std::vector<std::int32_t> winners_;
    std::vector<double> distances_;
    std::vector<Attempt> attempts_;  // of the rules
    std::size_t n_kept_ = 0;         // rows of the attempts that are known
    Rule tried_;                     // the generalised rule; in its place, the one before
    std::vector<Win> taken_, lost_;  // what changes with it
    Stat accuracy_ = 0, before_ = 0, first_ = 0;
    std::int64_t n_passes_ = 0;
    bool done_;
};

}  // namespace rulewright
