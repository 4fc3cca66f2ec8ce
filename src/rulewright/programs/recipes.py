"""Values that several model forms compose of nodes."""

from __future__ import annotations

import sys

from rulewright.programs.nodes import Choose, Constant, Exp, Node, Where

# Below every score: models keep theirs within half of the range of floats, and so a difference of
# a score and this is finite.
_LOWEST = -sys.float_info.max / 2
_LARGEST_EXPONENT = 700.0


def shares(odds: Node) -> Node:
    """Divide odds by their sum."""
    return odds / odds.total


def softmax_node(scores: Node) -> Node:
    """Return probabilities proportional to the exponentials of the scores."""
    return shares(Exp(scores - scores.largest))


def capped_exp(value: Node) -> Node:
    """Return the exponential of a value, which counts as 700 at most."""
    return Exp(value.at_most(_LARGEST_EXPONENT))


def one_hot(index: Node, n_classes: int) -> Node:
    """Test for each class whether an index is its own."""
    return Constant(tuple(map(float, range(n_classes)))).equals(index)


def prefer_first(values: Node, order: tuple[int, ...]) -> Node:
    """Choose the class of the largest value, of equal ones the first in the order."""
    return Choose(values.equals(values.largest), order)


def largest_but(scores: Node, is_left_out: Node) -> Node:
    """Return the largest score of the other classes; below every score if there is none."""
    return Where(is_left_out, Constant(_LOWEST), scores).largest


def margins_node(scores: Node, n_classes: int) -> Node:
    """Return the score of each class minus the highest of the others; 0 if there is no other."""
    if n_classes == 1:
        return scores - scores
    is_best = one_hot(prefer_first(scores, tuple(range(n_classes))), n_classes)
    return scores - Where(is_best, largest_but(scores, is_best), scores.largest)


def cheapest(costs: Node, scores: Node, n_classes: int) -> Node:
    """Choose the class of the lowest cost, of equal ones the highest score, then the first."""
    return best_score(costs.equals(costs.smallest), scores, n_classes)


def best_score(is_best: Node, scores: Node, n_classes: int) -> Node:
    """Choose the highest score among the classes that pass a test; the first wins a tie."""
    best = Where(is_best, scores, Constant(_LOWEST))
    return Choose(is_best & scores.equals(best.largest), tuple(range(n_classes)))
