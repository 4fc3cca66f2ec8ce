// Question: which coefficients of few columns give the least logistic loss on groups of rows?
//
// IN: columns of one number per group, an offset, a ridge penalty of each coefficient, a start.
// OUT: coefficients, the objective, and a lower bound of its minimum. Newton's method with
// halving, until a step promises less than 1e-12 of the weight. Buffers are kept between fits.
//
// Cost: O(groups x columns^2) a step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rulewright {

class LogisticFit {
  public:
    LogisticFit(std::span<const double> positives, std::span<const double> negatives);

    // Starts a problem without columns; `offset` is what every score starts with.
    void begin(std::span<const double> offset);
    void add_column(std::span<const double> column, double ridge, double start);
    void minimise();

    const std::vector<double>& coefficients() const { return theta_; }
    double value() const { return value_; }
    double bound() const { return value_ - 2 * promised_; }

  private:
    double evaluate(const std::vector<double>& theta);
    void differentiate();
    bool solve();

    std::span<const double> positives_, negatives_;
    std::vector<double> counts_;
    double total_ = 0;
    std::vector<double> offset_, scores_, fractions_, weighted_;
    std::vector<double> columns_;  // one after another
    std::vector<double> theta_, trial_, ridge_, slope_, step_, curved_;
    double value_ = 0, promised_ = 0;
};

}  // namespace rulewright
