from rulewright.kernels.structs import (
    BoolArray,
    ByteArray,
    CodeArray,
    FloatArray,
    IntArray,
    RowArray,
    SignArray,
    StatArray,
    WordArray,
)

score_names: tuple[str, ...]

def use_one_thread() -> None: ...

class Columns:
    def __init__(
        self, codes: ByteArray | CodeArray, n_bins: IntArray, nominal: ByteArray
    ) -> None: ...

class Workspace:
    def __init__(self) -> None: ...

class Score:
    def __init__(
        self,
        *,
        kind: str,
        unit: float,
        n_lanes: int,
        first_lane: int,
        l2: float,
        k: float,
        up: bool,
        down: bool,
    ) -> None: ...

class Limits:
    def __init__(
        self,
        *,
        max_conditions: int,
        tolerance: float,
        min_weight: int,
        up_operators: ByteArray,
        down_operators: ByteArray,
        required: ByteArray,
        groups: WordArray,
        max_labels: int,
        label_smoothing: int,
    ) -> None: ...

class Beam:
    def __init__(self, *, width: int, significance: float) -> None: ...

class TreeShape:
    def __init__(self, *, max_leaves: int, reuse: float, onehot: bool) -> None: ...

class DnfSettings:
    def __init__(
        self,
        *,
        n_terms: int,
        max_steps: int,
        seed: int,
        max_literals: int,
        p_g1: float,
        p_g2: float,
        p_s: float,
        seeded: bool,
        focused: bool,
        positive_unit: int,
        negative_unit: int,
        target: int,
        n_restarts: int,
        check: bool,
    ) -> None: ...

class DnfSearch:
    def __init__(
        self, bits: WordArray, weights: IntArray, n_positives: int, settings: DnfSettings
    ) -> None: ...
    def advance(self, n_steps: int, n_threads: int) -> int: ...
    def n_steps(self) -> int: ...
    def state(self, restart: int) -> tuple[int, int, int, int, list[list[int]]]: ...
    def best(
        self,
    ) -> list[tuple[int, int, int, list[list[int]], list[tuple[int, int, int]]]]: ...

class Exponential:
    def __init__(
        self,
        own: IntArray,
        weights: FloatArray,
        scores: FloatArray,
        stats: StatArray,
        by_cost: bool,
    ) -> None: ...
    def range(self) -> tuple[float, float]: ...
    def add(self, rows: RowArray, place: int, confidence: float, n_threads: int) -> None: ...
    def scale(self, factor: float, n_threads: int) -> None: ...
    def write(self, rows: RowArray, scale: float, n_threads: int) -> None: ...
    def sum(self, rows: RowArray, place: int, scale: float, n_threads: int) -> StatArray: ...
    def row_steps(self, n_threads: int) -> StatArray: ...

class Likelihood:
    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        exp_scores: FloatArray,
        stats: StatArray,
        scale: float,
        cumulative: bool,
    ) -> None: ...
    def refresh_stats(self, rows: RowArray, n_threads: int) -> None: ...
    def loss_change(
        self, rows: RowArray, first: int, last: int, size: float, n_threads: int
    ) -> float: ...
    def add_step(
        self, rows: RowArray, first: int, last: int, size: float, n_threads: int
    ) -> float: ...
    def sum_pair(self, rows: RowArray, pair: int, scale: float, n_threads: int) -> StatArray: ...
    def sum_stats(self, rows: RowArray, n_threads: int) -> StatArray: ...
    def class_weights(self, rows: RowArray, side: ByteArray, n_threads: int) -> FloatArray: ...

class ClassLikelihood:
    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        exp_scores: FloatArray,
        stats: StatArray,
        scale: float,
    ) -> None: ...
    def write_stats(self, k: int, n_threads: int) -> None: ...
    def write_telling_rows(self, rows: RowArray, k: int, least: float) -> RowArray: ...
    def sum_stats(self, rows: RowArray, k: int, scale: float, n_threads: int) -> StatArray: ...
    def loss_change(self, rows: RowArray, k: int, size: float, n_threads: int) -> float: ...
    def add_step(self, rows: RowArray, k: int, size: float, n_threads: int) -> float: ...
    def residuals(self, rows: RowArray, n_threads: int) -> FloatArray: ...
    def class_weights(self, rows: RowArray, side: ByteArray, n_threads: int) -> FloatArray: ...

class ResponseFit:
    def __init__(
        self,
        shares: FloatArray,
        weights: FloatArray,
        probabilities: FloatArray,
        covers: WordArray,
        heads: IntArray,
        signs: SignArray,
    ) -> None: ...
    def sweep(self, rules: IntArray, responses: FloatArray, l1: float, l2: float) -> float: ...
    def move(self, rules: IntArray, steps: FloatArray) -> None: ...
    def gradients(self, rules: IntArray, n_threads: int) -> FloatArray: ...
    def hessian(self, rules: IntArray, n_threads: int) -> FloatArray: ...

def grow_tree(
    columns: Columns,
    rows: RowArray,
    stats: StatArray,
    shape: TreeShape,
    limits: Limits,
    n_threads: int,
) -> tuple[list[tuple[int, int, int, list[int]]], StatArray]: ...

class BranchLimits:
    def __init__(
        self, *, n_classes: int, unit: float, min_cases: float, many: ByteArray
    ) -> None: ...

def choose_branching(
    columns: Columns,
    rows: RowArray,
    weights: StatArray,
    labels: IntArray,
    limits: BranchLimits,
    n_threads: int,
) -> tuple[int, int, int, float, float]: ...
def route_rows(
    columns: Columns,
    children: IntArray,
    looked_at: IntArray,
    starts: IntArray,
    sides: ByteArray,
    n_threads: int,
) -> IntArray: ...

class Quadratic:
    def __init__(
        self, weight: float, means: FloatArray, scales: FloatArray, norms: FloatArray
    ) -> None: ...

class RuleMatrix:
    def __init__(self, covers: WordArray, dense: FloatArray) -> None: ...
    def sums(self, columns: IntArray, values: FloatArray, n_threads: int) -> FloatArray: ...
    def add(self, columns: IntArray, coefs: FloatArray, scores: FloatArray) -> None: ...
    def cross(
        self, columns: IntArray, others: IntArray, weights: FloatArray, n_threads: int
    ) -> FloatArray: ...
    def descend(
        self,
        quadratic: Quadratic,
        weights: FloatArray,
        columns: IntArray,
        l1: float,
        l2: float,
        change: float,
        max_sweeps: int,
        coefs: FloatArray,
        residuals: FloatArray,
    ) -> int: ...

def descend_products(
    products: IntArray | FloatArray,
    quadratic: Quadratic,
    columns: IntArray,
    l1: float,
    l2: float,
    change: float,
    max_sweeps: int,
    coefs: FloatArray,
    sums: FloatArray,
) -> int: ...
def take_rows(covers: WordArray, rows: RowArray, n_threads: int) -> WordArray: ...
def count_shared(
    covers: WordArray, others: WordArray, weights: FloatArray, block: int, n_threads: int
) -> FloatArray: ...
def find_partition(
    positives: WordArray,
    negatives: WordArray,
    n_parts: int,
    one_new: bool,
    seed: int,
    first_restart: int,
    n_restarts: int,
    n_threads: int,
) -> tuple[int, IntArray]: ...
def summarise_groups(
    groups: RowArray, rows: RowArray, values: FloatArray, factor: float, out: FloatArray
) -> None: ...
def count_at_least(
    groups: RowArray,
    rows: RowArray,
    values: FloatArray,
    cuts: FloatArray,
    out: RowArray,
) -> None: ...
def last_values(
    groups: RowArray, rows: RowArray, values: FloatArray, times: FloatArray, out: FloatArray
) -> None: ...
def middle_values(
    groups: RowArray, rows: RowArray, values: FloatArray, out: FloatArray
) -> None: ...
def count_held(words: WordArray) -> StatArray: ...
def group_rows(
    words: WordArray, weights: FloatArray, shares: FloatArray
) -> tuple[IntArray, WordArray, FloatArray, FloatArray]: ...
def value_facts(rows: RowArray, values: FloatArray, most: int) -> tuple[float, float, int]: ...
def encode_columns(
    values: list[FloatArray],
    cuts: list[FloatArray],
    places: IntArray,
    out: CodeArray,
    n_threads: int,
) -> None: ...
def encode_values(
    values: FloatArray, cuts: FloatArray, on_cut: bool, missing: int, n_threads: int
) -> CodeArray: ...

class Roots:
    def __init__(
        self, columns: Columns, stats: StatArray, n_blocks: int, bits: int, n_threads: int
    ) -> None: ...
    def remember(
        self, columns: Columns, rows: RowArray, stats: StatArray, n_threads: int
    ) -> None: ...
    def follow(self, columns: Columns, stats: StatArray, n_threads: int) -> None: ...
    def grow(
        self,
        columns: Columns,
        chosen: ByteArray,
        stats: StatArray,
        score: Score,
        limits: Limits,
        workspace: Workspace,
        n_threads: int,
    ) -> tuple[list[tuple[int, int, int, int, float, list[int]]], int]: ...

class BlockSearch:
    def __init__(
        self, columns: Columns, stats: StatArray, starts: StatArray, keeps_roots: bool
    ) -> None: ...
    def remember(self, columns: Columns, rows: RowArray, stats: StatArray) -> None: ...
    def follow(self, columns: Columns, stats: StatArray) -> None: ...
    def start(
        self,
        columns: Columns,
        stats: StatArray,
        chosen: ByteArray,
        first: int,
        n: int,
        weighted: bool,
    ) -> StatArray: ...
    def narrow(self, columns: Columns, stats: StatArray, test: list[int]) -> StatArray: ...

def draw_rows(n: int, size: int, seed: int) -> tuple[RowArray, ByteArray]: ...
def split_by_weight(weights: StatArray, strata: IntArray, share: float, seed: int) -> ByteArray: ...
def cover_rows(columns: Columns, tests: IntArray, n_threads: int) -> RowArray: ...
def grow_rule(
    columns: Columns,
    rows: RowArray,
    stats: StatArray,
    score: Score,
    limits: Limits,
    workspace: Workspace,
    n_threads: int,
) -> tuple[list[tuple[int, int, int, int, float, list[int]]], int]: ...
def grow_beam(
    columns: Columns,
    rows: RowArray,
    stats: StatArray,
    totals: StatArray,
    score: Score,
    limits: Limits,
    beam: Beam,
    n_threads: int,
) -> tuple[list[tuple[int, int, int, int, float, list[int]]], int]: ...
def count_histogram(
    columns: Columns, rows: RowArray, stats: StatArray, n_threads: int
) -> StatArray: ...
def scan_histogram(
    columns: Columns, histogram: StatArray, totals: StatArray, score: Score, limits: Limits
) -> tuple[list[tuple[int, int, int, int, float, list[int]]], int]: ...
def prefix_sums(
    columns: Columns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: ByteArray,
    n_threads: int,
) -> StatArray: ...
def judged_sums(
    columns: Columns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: ByteArray,
    n_threads: int,
) -> StatArray: ...
def failure_sums(
    columns: Columns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: ByteArray,
    n_threads: int,
) -> StatArray: ...
def prune_tests(
    columns: Columns,
    tests: IntArray,
    stats: StatArray,
    first_lane: int,
    side: ByteArray,
    unit: float,
    down: bool,
    l2: float,
    worth: FloatArray,
    required: ByteArray,
    least: float,
    n_threads: int,
) -> IntArray: ...
def add_responses(
    codes: CodeArray,
    intervals: IntArray,
    condition_starts: IntArray,
    rule_starts: IntArray,
    heads: IntArray,
    responses: FloatArray,
    out: FloatArray,
    n_threads: int,
) -> None: ...
def rule_covers(
    codes: CodeArray,
    intervals: IntArray,
    condition_starts: IntArray,
    rule_starts: IntArray,
    out: BoolArray,
    n_threads: int,
) -> None: ...
def rule_bits(
    codes: CodeArray,
    intervals: IntArray,
    condition_starts: IntArray,
    rule_starts: IntArray,
    out: WordArray,
    n_threads: int,
) -> None: ...

class Elbow:
    def __init__(self, shares: FloatArray, targets: FloatArray, budget: float) -> None: ...
    def reset(self) -> None: ...
    def settle(self, most_steps: int) -> int: ...
    def enter(self, atom: int, sign: float, column: FloatArray, gain: float) -> None: ...
    def remove(self, atom: int) -> None: ...
    def level(self) -> float: ...
    def prices(self) -> FloatArray: ...
    def support(self) -> tuple[IntArray, FloatArray]: ...

def signed_products(
    holds: WordArray, fails: WordArray, lines: IntArray, others: IntArray, n_threads: int
) -> StatArray: ...
def signed_sums(
    holds: WordArray, fails: WordArray, lines: IntArray, values: FloatArray, n_threads: int
) -> FloatArray: ...
def nearest_rules(
    values: FloatArray,
    widths: FloatArray,
    group_starts: IntArray,
    groups: IntArray,
    table_starts: IntArray,
    tables: FloatArray,
    starts: IntArray,
    columns: IntArray,
    lows: FloatArray,
    highs: FloatArray,
    n_threads: int,
) -> tuple[IntArray, FloatArray]: ...

class RiseSearch:
    def __init__(
        self,
        values: FloatArray,
        widths: FloatArray,
        group_starts: IntArray,
        groups: IntArray,
        table_starts: IntArray,
        tables: FloatArray,
        labels: IntArray,
        weights: StatArray,
        alone: ByteArray,
        ranks: IntArray,
        unit: float,
        max_passes: int,
    ) -> None: ...
    def advance(self, n_steps: int, n_threads: int) -> bool: ...
    def accuracy(self) -> int: ...
    def first_accuracy(self) -> int: ...
    def n_passes(self) -> int: ...
    def state(
        self,
    ) -> tuple[IntArray, FloatArray, StatArray, StatArray, IntArray, FloatArray, FloatArray]: ...

class GraphSet:
    def __init__(
        self,
        starts: IntArray,
        labels: IntArray,
        edge_starts: IntArray,
        ends: IntArray,
        edge_labels: IntArray,
    ) -> None: ...
    def match(self, codes: IntArray, starts: IntArray) -> WordArray: ...
    def neighbours(
        self, code: IntArray, max_edges: int, allow_cycles: bool
    ) -> tuple[IntArray, IntArray, WordArray]: ...

class SubgraphMiner:
    def __init__(
        self, graphs: GraphSet, min_count: int, max_edges: int, allow_cycles: bool
    ) -> None: ...
    def advance(self, n_patterns: int, most_work: int) -> tuple[IntArray, IntArray, WordArray]: ...
    def done(self) -> bool: ...
