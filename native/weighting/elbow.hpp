// Question: which weights of columns, with a given sum, have the least hinge loss?
//
// Columns (atoms) of margins have weights v >= 0 with the sum s; row i costs its share a_i of what
// its margin lacks of its target b_i. At a vertex as many rows as there are atoms, less one, are at
// their targets: the elbow. Rows below have the price u_i = a_i, rows above u_i = 0, and those in
// the elbow the prices with which all atoms pay the same, sum_i u_i x_ij = level. `settle` lets out
// rows whose price leaves [0, a_i]; `enter` gives weight to an atom that pays more. Both go along
// an edge until the loss would rise or an atom has no weight left, so the loss falls with every
// step.
//
// Targets must differ by tiny amounts if margins coincide. Nothing is read that is not finite:
// numbers that are not give an answer without meaning.
//
// Cost: O(rows x atoms) a step, O(atoms^2) for the inverse of the system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rulewright {

class Elbow {
  public:
    // The atom 0, whose margins are 0, has all weight at first.
    static constexpr std::int32_t kNothing = -1;

    Elbow(std::span<const double> shares, std::span<const double> targets, double budget);

    void reset();
    // Lets rows out of the elbow until all prices are within bounds; returns the steps taken.
    int settle(int most_steps);
    // Gives weight to an atom that pays `gain` more than the others.
    void enter(std::int32_t atom, double sign, std::span<const double> column, double gain);
    // Takes an atom out, whose weight others take; atoms with larger numbers move up.
    void remove(std::int32_t atom);

    double level() const;
    std::vector<double> prices() const;
    std::size_t n_rows() const { return shares_.size(); }
    const std::vector<std::int32_t>& atoms() const { return atoms_; }
    const std::vector<double>& signs() const { return signs_; }
    const std::vector<double>& weights() const { return v_; }

  private:
    struct Stop {
        double step;
        std::optional<std::size_t> row;  // that reaches the elbow; else an atom has no weight left
        std::size_t atom;
    };

    std::size_t size() const { return atoms_.size(); }
    double& inverse(std::size_t atom, std::size_t place) { return inverse_[atom * size() + place]; }
    double inverse(std::size_t atom, std::size_t place) const {
        return inverse_[atom * size() + place];
    }
    std::vector<double> elbow_prices() const;  // minus the level, then those of the rows
    void release(std::size_t place, double price);
    void expel(std::size_t atom);
    void set_moves(const std::vector<double>& dv, std::span<const double> column);
    std::size_t first_to_fall(const std::vector<double>& dv, double tiny, double& most) const;
    Stop search(const std::vector<double>& dv, double slope);
    void move(double step, const std::vector<double>& dv);
    void replace_row(std::size_t place, std::size_t row);
    void border(const std::vector<double>& dv, std::size_t row);
    void replace_atom(std::size_t atom, const std::vector<double>& dv);
    void drop(std::size_t atom, std::size_t place);
    void sort_rows();
    void refine();

    std::vector<double> shares_, targets_;
    double budget_;
    std::vector<std::int32_t> atoms_;
    std::vector<double> signs_, v_;
    std::vector<std::vector<double>> columns_;  // margins of each atom
    std::vector<std::size_t> elbow_;
    std::vector<double> inverse_;                 // atoms x (sum of weights, rows in the elbow)
    std::vector<double> margins_, moves_, paid_;  // paid_: by each atom to the rows below
    std::vector<char> place_;                     // of a row: below, above or in the elbow
    std::vector<std::pair<double, std::size_t>> crossings_;
    int updates_ = 0;
};

}  // namespace rulewright
