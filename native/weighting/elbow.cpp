#include "weighting/elbow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/bits.hpp"

namespace rulewright {
namespace {

constexpr double kTiny = 1e-10;
constexpr double kLevel = 1e-13;  // a slope that is 0 but for rounding
constexpr int kRefine = 60;
constexpr char kAbove = 0, kBelow = 1, kInElbow = 2;

RULEWRIGHT_CLONES
void add_scaled(double scale, const double* values, std::size_t n, double* sums) {
    for (std::size_t i = 0; i < n; ++i) sums[i] += scale * values[i];
}

template <class T>
void erase_at(std::vector<T>& values, std::size_t place) {
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(place));
}

}  // namespace

Elbow::Elbow(std::span<const double> shares, std::span<const double> targets, double budget)
    : shares_(shares.begin(), shares.end()),
      targets_(targets.begin(), targets.end()),
      budget_(budget) {
    reset();
}

void Elbow::reset() {
    const std::size_t n = n_rows();
    atoms_ = {kNothing};
    signs_ = {1.0};
    v_ = {budget_};
    columns_ = {std::vector<double>(n, 0.0)};
    elbow_.clear();
    inverse_ = {1.0};
    margins_.assign(n, 0.0);
    moves_.assign(n, 0.0);
    paid_ = {0.0};
    place_.assign(n, kBelow);
    updates_ = 0;
}

std::vector<double> Elbow::elbow_prices() const {
    std::vector<double> found(size(), 0.0);
    for (std::size_t a = 0; a < size(); ++a) {
        add_scaled(-paid_[a], inverse_.data() + a * size(), size(), found.data());
    }
    return found;
}

double Elbow::level() const { return -elbow_prices()[0]; }

std::vector<double> Elbow::prices() const {
    std::vector<double> found(n_rows());
    for (std::size_t i = 0; i < found.size(); ++i) {
        found[i] = place_[i] == kBelow ? shares_[i] : 0.0;
    }
    const std::vector<double> inside = elbow_prices();
    for (std::size_t p = 0; p < elbow_.size(); ++p) {
        const double share = shares_[elbow_[p]];
        found[elbow_[p]] = std::min(std::max(inside[p + 1], 0.0), share);
    }
    return found;
}

int Elbow::settle(int most_steps) {
    for (int step = 0; step < most_steps; ++step) {
        const std::vector<double> found = elbow_prices();
        double worst = -kTiny;
        std::size_t place = elbow_.size();
        for (std::size_t p = 0; p < elbow_.size(); ++p) {
            const double within = std::min(found[p + 1], shares_[elbow_[p]] - found[p + 1]);
            if (within < worst) {
                worst = within;
                place = p;
            }
        }
        if (place == elbow_.size()) return step;
        release(place, found[place + 1]);
    }
    return most_steps;
}

void Elbow::release(std::size_t place, double price) {
    const bool up = price < 0;
    std::vector<double> dv(size());
    for (std::size_t a = 0; a < size(); ++a) dv[a] = (up ? 1 : -1) * inverse(a, place + 1);
    set_moves(dv, {});
    const Stop stop = search(dv, up ? price : shares_[elbow_[place]] - price);
    move(stop.step, dv);
    if (stop.row) {
        replace_row(place, *stop.row);
    } else {
        drop(stop.atom, place);
    }
    sort_rows();
}

void Elbow::enter(std::int32_t atom, double sign, std::span<const double> column, double gain) {
    std::vector<double> dv(size(), 0.0);
    for (std::size_t a = 0; a < size(); ++a) {
        dv[a] -= inverse(a, 0);
        for (std::size_t p = 0; p < elbow_.size(); ++p) {
            dv[a] -= inverse(a, p + 1) * column[elbow_[p]];
        }
    }
    set_moves(dv, column);
    const Stop stop = search(dv, -gain);
    move(stop.step, dv);
    std::vector<double> kept(column.begin(), column.end());
    double paid = 0;
    for (std::size_t i = 0; i < n_rows(); ++i) {
        if (place_[i] == kBelow) paid += shares_[i] * kept[i];
    }
    if (stop.row) {
        border(dv, *stop.row);
        atoms_.push_back(atom);
        signs_.push_back(sign);
        v_.push_back(stop.step);
        columns_.push_back(std::move(kept));
        paid_.push_back(paid);
    } else {
        replace_atom(stop.atom, dv);
        atoms_[stop.atom] = atom;
        signs_[stop.atom] = sign;
        v_[stop.atom] = stop.step;
        columns_[stop.atom] = std::move(kept);
        paid_[stop.atom] = paid;
    }
    sort_rows();
}

void Elbow::remove(std::int32_t atom) {
    for (;;) {
        const auto found = std::find(atoms_.begin(), atoms_.end(), atom);
        if (found == atoms_.end() || atom == kNothing) break;
        expel(static_cast<std::size_t>(found - atoms_.begin()));
    }
    for (std::int32_t& other : atoms_) other -= other > atom;
}

void Elbow::expel(std::size_t atom) {
    if (elbow_.empty()) return reset();
    std::size_t place = 0;
    for (std::size_t p = 1; p < elbow_.size(); ++p) {
        if (std::abs(inverse(atom, p + 1)) > std::abs(inverse(atom, place + 1))) place = p;
    }
    const double turn = inverse(atom, place + 1) > 0 ? -1 : 1;
    std::vector<double> dv(size());
    for (std::size_t a = 0; a < size(); ++a) dv[a] = turn * inverse(a, place + 1);
    set_moves(dv, {});
    double most = 0;
    const std::size_t first = first_to_fall(dv, 0.0, most);
    move(most, dv);
    drop(first, place);
    sort_rows();
}

void Elbow::set_moves(const std::vector<double>& dv, std::span<const double> column) {
    if (column.empty()) {
        std::fill(moves_.begin(), moves_.end(), 0.0);
    } else {
        std::copy(column.begin(), column.end(), moves_.begin());
    }
    for (std::size_t a = 0; a < size(); ++a) {
        if (dv[a] != 0) add_scaled(dv[a], columns_[a].data(), n_rows(), moves_.data());
    }
}

std::size_t Elbow::first_to_fall(const std::vector<double>& dv, double tiny, double& most) const {
    most = std::numeric_limits<double>::infinity();
    std::size_t first = size();
    for (std::size_t a = 0; a < size(); ++a) {
        if (dv[a] < -tiny && v_[a] / -dv[a] < most) {
            most = v_[a] / -dv[a];
            first = a;
        }
    }
    if (first == size()) throw std::runtime_error("no weight falls: numbers are not finite");
    most = std::max(most, 0.0);
    return first;
}

Elbow::Stop Elbow::search(const std::vector<double>& dv, double slope) {
    double most = 0;
    const std::size_t atom = first_to_fall(dv, kTiny, most);
    crossings_.clear();
    for (std::size_t i = 0; i < n_rows(); ++i) {
        const bool crosses = (place_[i] == kBelow && moves_[i] > kTiny) ||
                             (place_[i] == kAbove && moves_[i] < -kTiny);
        if (!crosses) continue;
        const double step = (targets_[i] - margins_[i]) / moves_[i];
        if (step < most) crossings_.emplace_back(std::max(step, 0.0), i);
    }
    std::sort(crossings_.begin(), crossings_.end());
    for (const auto& [step, row] : crossings_) {
        slope += shares_[row] * std::abs(moves_[row]);
        if (slope >= -kLevel) return {step, row, atom};
    }
    return {most, std::nullopt, atom};
}

void Elbow::move(double step, const std::vector<double>& dv) {
    add_scaled(step, dv.data(), size(), v_.data());
    add_scaled(step, moves_.data(), n_rows(), margins_.data());
}

void Elbow::replace_row(std::size_t place, std::size_t row) {
    std::vector<double> change(size(), 0.0);
    for (std::size_t a = 0; a < size(); ++a) {
        add_scaled(columns_[a][row], inverse_.data() + a * size(), size(), change.data());
    }
    change[place + 1] -= 1;
    const double pivot = 1 + change[place + 1];
    for (std::size_t a = 0; a < size(); ++a) {
        const double scale = -inverse(a, place + 1) / pivot;
        add_scaled(scale, change.data(), size(), inverse_.data() + a * size());
    }
    elbow_[place] = row;
}

void Elbow::border(const std::vector<double>& dv, std::size_t row) {
    const std::size_t k = size();
    const double pivot = moves_[row];
    std::vector<double> line(k, 0.0), grown((k + 1) * (k + 1));
    for (std::size_t a = 0; a < k; ++a) {
        add_scaled(columns_[a][row] / pivot, inverse_.data() + a * k, k, line.data());
    }
    for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t p = 0; p < k; ++p) {
            grown[a * (k + 1) + p] = inverse(a, p) - dv[a] * line[p];
        }
        grown[a * (k + 1) + k] = dv[a] / pivot;
    }
    for (std::size_t p = 0; p < k; ++p) grown[k * (k + 1) + p] = -line[p];
    grown[k * (k + 1) + k] = 1 / pivot;
    inverse_ = std::move(grown);
    elbow_.push_back(row);
}

void Elbow::replace_atom(std::size_t atom, const std::vector<double>& dv) {
    const std::size_t k = size();
    std::vector<double> line(k);
    for (std::size_t p = 0; p < k; ++p) line[p] = inverse(atom, p) / -dv[atom];
    for (std::size_t a = 0; a < k; ++a) {
        if (a != atom) add_scaled(dv[a], line.data(), k, inverse_.data() + a * k);
    }
    std::copy(line.begin(), line.end(), inverse_.data() + atom * k);
}

void Elbow::drop(std::size_t atom, std::size_t place) {
    const std::size_t k = size(), column = place + 1;
    const std::vector<double> line(inverse_.data() + atom * k, inverse_.data() + (atom + 1) * k);
    std::vector<double> rest;
    rest.reserve((k - 1) * (k - 1));
    for (std::size_t a = 0; a < k; ++a) {
        if (a == atom) continue;
        const double scale = inverse(a, column) / line[column];
        for (std::size_t p = 0; p < k; ++p) {
            if (p != column) rest.push_back(inverse(a, p) - scale * line[p]);
        }
    }
    inverse_ = std::move(rest);
    erase_at(elbow_, place);
    erase_at(atoms_, atom);
    erase_at(signs_, atom);
    erase_at(v_, atom);
    erase_at(columns_, atom);
    erase_at(paid_, atom);
}

// Finds the place of each row after a move; what atoms pay follows the rows that changed it.
void Elbow::sort_rows() {
    if (++updates_ >= kRefine) refine();
    std::vector<char> inside(n_rows(), 0);
    for (const std::size_t row : elbow_) inside[row] = 1;
    for (std::size_t i = 0; i < n_rows(); ++i) {
        const char place = inside[i] ? kInElbow : margins_[i] < targets_[i] ? kBelow : kAbove;
        if (place == place_[i]) continue;
        const double change = (place == kBelow ? 1 : 0) - (place_[i] == kBelow ? 1 : 0);
        if (change != 0) {
            for (std::size_t a = 0; a < size(); ++a) {
                paid_[a] += change * shares_[i] * columns_[a][i];
            }
        }
        place_[i] = place;
    }
}

// Improves the inverse X of the system B by X (2 I - B X), and finds the rest from it.
void Elbow::refine() {
    const std::size_t k = size();
    std::vector<double> rest(k * k, 0.0), better(k * k, 0.0);
    for (std::size_t p = 0; p < k; ++p) {
        double* line = rest.data() + p * k;
        for (std::size_t a = 0; a < k; ++a) {
            const double entry = p == 0 ? 1.0 : columns_[a][elbow_[p - 1]];
            add_scaled(-entry, inverse_.data() + a * k, k, line);
        }
        line[p] += 2;
    }
    for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t p = 0; p < k; ++p) {
            add_scaled(inverse(a, p), rest.data() + p * k, k, better.data() + a * k);
        }
    }
    inverse_ = std::move(better);
    std::fill(margins_.begin(), margins_.end(), 0.0);
    for (std::size_t a = 0; a < k; ++a) {
        v_[a] = inverse(a, 0) * budget_;
        for (std::size_t p = 1; p < k; ++p) v_[a] += inverse(a, p) * targets_[elbow_[p - 1]];
        add_scaled(v_[a], columns_[a].data(), n_rows(), margins_.data());
        paid_[a] = 0;
        for (std::size_t i = 0; i < n_rows(); ++i) {
            if (place_[i] == kBelow) paid_[a] += shares_[i] * columns_[a][i];
        }
    }
    updates_ = 0;
}

}  // namespace rulewright
