"""Twins of the kernels of rule cards: logistic fits on groups of rows, and integer points."""

import numpy as np

from rulewright.kernels.structs import FittedScores, FoundPoints

STEPS, HALVINGS = 100, 60
CLOSE = 1e-12
"""Newton's method stops when a step promises less than this share of the total weight."""
IMPROVED = 4
"""Roundings that are improved."""
SAME = 1e-9
"""Cards whose losses differ by a smaller share of the loss are the same to the search."""


def loss_of(scores, positives, negatives):
    """Sum the negative log-likelihood of groups of rows."""
    return float(positives @ np.logaddexp(0, -scores) + negatives @ np.logaddexp(0, scores))


def newton(design, offset, positives, negatives, ridge, start):
    """Minimise the loss of `offset + design @ theta`, plus half of `ridge @ theta**2`.

    Returns theta, the objective, and a lower bound on its minimum.
    """
    theta, total = start.copy(), positives.sum() + negatives.sum()
    counts = positives + negatives

    def objective(theta):
        scores = offset + design @ theta
        return loss_of(scores, positives, negatives) + 0.5 * float(ridge @ theta**2)

    value = objective(theta)
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(offset + design @ theta, -700, 700)))
        slope = design.T @ (counts * p - positives) + ridge * theta
        curved = (design * (counts * p * (1 - p))[:, None]).T @ design + np.diag(ridge)
        curved[np.diag_indices_from(curved)] += 1e-12 * total
        step = np.linalg.solve(curved, slope)
        promised = float(slope @ step) / 2
        if promised <= CLOSE * total:
            return theta - step, value, value - 2 * max(promised, 0.0)
        length = 1.0
        for _ in range(HALVINGS):
            new = objective(theta - length * step)
            if new <= value - 0.2 * length * promised:
                break
            length /= 2
        else:
            return theta, value, value - 2 * promised
        theta, value = theta - length * step, new
    return theta, value, value - 2 * promised


def fit_scores(covers, positives, negatives, l2, start):
    """Fit a real response to each cover, and the intercept: start and result end with it."""
    design = np.column_stack([covers.astype(float), np.ones(len(covers))])
    ridge = np.append(np.full(covers.shape[1], l2), 0.0)
    theta, value, _ = newton(design, np.zeros(len(covers)), positives, negatives, ridge, start)
    return FittedScores(theta, value)


class PointSearch:
    """Depth-first branch and bound on integer points, one cover after another.

    A node has the points of the first covers; the others have free real responses. The loss of
    that convex problem is a lower bound for all cards below the node. In the ratio of a response
    to the unit the bound has a single valley, so further values in a direction are worse.
    """

    def __init__(self, covers, positives, negatives, limits):
        self.x, self.positives, self.negatives = covers.astype(float), positives, negatives
        self.limits, self.n_nodes, self.open_bound = limits, 0, np.inf
        self.best, self.loss = None, np.inf

    def solve(self):
        k = self.x.shape[1]
        theta, root, _ = self.relax(np.zeros(0, int), np.zeros(k + 2))
        theta = np.append(theta, np.zeros(k))[: k + 2]
        order = np.argsort(-np.abs(theta[2:]), kind="stable")
        self.x, back = self.x[:, order], np.argsort(order)
        self.low, self.high = self.limits.lowest[order], self.limits.highest[order]
        theta = np.append(theta[:2], theta[2:][order])
        self.evaluate(np.zeros(k, int))
        starts = sorted(self.roundings(theta[2:]), key=self.evaluate)
        for points in starts[:IMPROVED]:
            self.improve(points)
        if self.limits.cutoff < self.loss:
            self.loss, self.best = self.limits.cutoff, None
        self.branch(np.zeros(0, int), theta, root)
        bound = min(self.loss, self.open_bound)
        if self.best is None:
            return FoundPoints(np.zeros(k, np.int32), 0.0, 0.0, np.inf, bound, self.n_nodes)
        points, unit, intercept = self.best
        return FoundPoints(points[back], unit, intercept, self.loss, bound, self.n_nodes)

    def roundings(self, responses):
        """Round real responses at several units."""
        largest, found = np.abs(responses).max(initial=0.0), []
        most = max(np.abs(self.low).max(initial=0), np.abs(self.high).max(initial=0))
        if largest == 0 or most == 0:
            return found
        units = (
            [self.limits.unit]
            if self.limits.unit
            else [largest / (most * (i + 1) / 20) for i in range(20)]
        )
        for unit in units:
            points = np.rint(np.clip(responses / unit, self.low, self.high)).astype(int)
            if points.any() and not any((points == one).all() for one in found):
                found.append(self.shrink(points, responses))
        return found

    def shrink(self, points, responses):
        """Make rounded points respect the limits on all of them."""
        points = points.copy()
        while np.count_nonzero(points) > self.limits.max_items:
            used = np.flatnonzero(points)
            points[used[np.argmin(np.abs(responses[used]))]] = 0
        while self.limits.max_range >= 0 and np.abs(points).sum() > self.limits.max_range:
            largest = np.argmax(np.abs(points))
            points[largest] -= np.sign(points[largest])
        return points

    def improve(self, points):
        """Change single points by one while that lowers the loss."""
        loss, moved = self.evaluate(points), True
        while moved:
            moved = False
            for j in range(len(points)):
                for step in (-1, 1):
                    new = points.copy()
                    new[j] += step
                    if self.is_allowed(new) and (found := self.evaluate(new)) < loss * (1 - SAME):
                        points, loss, moved = new, found, True

    def is_allowed(self, points):
        limits = self.limits
        if limits.max_range >= 0 and np.abs(points).sum() > limits.max_range:
            return False
        inside = (self.low[: len(points)] <= points) & (points <= self.high[: len(points)])
        return bool(inside.all()) and np.count_nonzero(points) <= limits.max_items

    def evaluate(self, points):
        """Fit unit and intercept to points of all covers, and note the best."""
        theta, value, _ = self.relax(points, np.zeros(2), has_free=False)
        if not (self.limits.unit or theta[0]) > 0 or not points.any():
            points = np.zeros_like(points)
            theta, value, _ = self.relax(points, np.zeros(2), has_free=False)
        if not self.is_allowed(points):
            return np.inf
        if value < self.loss * (1 - SAME) or (self.best is None and value < self.loss):
            self.loss = value
            self.best = (points.astype(np.int32), self.limits.unit or theta[0], theta[1])
        return value

    def relax(self, points, start, has_free=True):
        """Return (unit, intercept, free responses ...), the loss and a lower bound.

        Start and result have a unit even if it is fixed, or no point is set; it is 0 then.
        """
        limits, t = self.limits, len(points)
        total, free = self.x[:, :t] @ points, self.x[:, t:]
        has_free = has_free and np.count_nonzero(points) < limits.max_items
        if not has_free:
            free = free[:, :0]
        has_unit = bool(points.any()) and not limits.unit
        columns = [total[:, None]] if has_unit else []
        design = np.column_stack([*columns, np.ones(len(total)), free])
        ridge = np.full(design.shape[1], limits.l2)
        ridge[int(has_unit)] = 0.0
        if has_unit:
            ridge[0] = limits.l2 * float(points @ points)
        offset = limits.unit * total
        n = design.shape[1] - int(has_unit)
        rest = np.append(start[1:], np.zeros(n))[:n]
        begin = np.concatenate([start[:1], rest]) if has_unit else rest
        theta, value, bound = newton(design, offset, self.positives, self.negatives, ridge, begin)
        fixed = 0.5 * limits.l2 * limits.unit**2 * float(points @ points)
        if not has_unit:
            theta = np.append(0.0, theta)
        if has_unit and theta[0] < 0:  # the unit is not negative, so it is 0
            zeros, start = np.zeros(t, int), np.append(0.0, theta[1:])
            without, value, bound = self.relax(zeros, start, has_free)
            return np.append(-1e-300, without[1:]), value, bound
        return theta, value + fixed, bound + fixed

    def branch(self, points, theta, bound):
        """Try the points of the next cover, the nearest to the relaxed response first."""
        t = len(points)
        if t == self.x.shape[1]:
            return
        response = theta[2] if len(theta) > 2 else 0.0
        unit = self.limits.unit or theta[0]
        low, high = int(self.low[t]), int(self.high[t])
        if np.count_nonzero(points) >= self.limits.max_items:
            low, high = max(low, 0), min(high, 0)
        if self.limits.max_range >= 0:
            left = self.limits.max_range - int(np.abs(points).sum())
            low, high = max(low, -left), min(high, left)
        if low > high:
            return
        is_first = not self.limits.unit and not points.any()
        if is_first or unit <= 0:
            values = sorted(range(low, high + 1), key=lambda z: (-z * np.sign(response), z))
            for z in values:
                self.visit(points, z, theta, bound)
            return
        centre = min(max(response / unit, low), high)
        below, above = int(np.floor(centre)), int(np.floor(centre)) + 1
        has_zero = not low <= 0 <= high
        while below >= low or above <= high:
            goes_up = below < low or (above <= high and above - centre < centre - below)
            z = above if goes_up else below
            has_zero = has_zero or z == 0
            is_pruned = self.visit(points, z, theta, bound)
            if goes_up:
                above = high + 1 if is_pruned else above + 1
            else:
                below = low - 1 if is_pruned else below - 1
        if not has_zero:  # leaves another item to be used instead
            self.visit(points, 0, theta, bound)

    def visit(self, points, z, theta, parent):
        """Bound the cards with this point; return whether further ones are worse."""
        new = np.append(points, z)
        if self.n_nodes >= self.limits.max_nodes:
            self.open_bound = min(self.open_bound, parent)
            return False
        self.n_nodes += 1
        start = np.append(theta[:2], theta[3:])
        found, _, bound = self.relax(new, start)
        if bound >= self.loss * (1 - SAME):
            return True
        if len(new) == self.x.shape[1]:
            self.evaluate(new)
        else:
            self.branch(new, found, bound)
        return False


def solve_points(covers, positives, negatives, limits):
    """Find integer points by branch and bound (see `native/weighting/points.hpp`)."""
    return PointSearch(covers, positives, negatives, limits).solve()
