from rulewright.kernels.structs import (
    BoolArray,
    ByteArray,
    CodeArray,
    FloatArray,
    IntArray,
    RowArray,
    StatArray,
)

has_threads: bool

def use_one_thread() -> None: ...

class Columns:
    def __init__(
        self, codes: ByteArray | CodeArray, n_bins: IntArray, nominal: ByteArray
    ) -> None: ...

class Workspace:
    def __init__(self) -> None: ...

class Likelihood:
    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        exp_scores: FloatArray,
        stats: StatArray,
        scale: float,
    ) -> None: ...
    def refresh_stats(self, rows: RowArray, n_threads: int) -> None: ...
    def loss_change(self, rows: RowArray, vote: int, size: float, n_threads: int) -> float: ...
    def add_step(self, rows: RowArray, vote: int, size: float, n_threads: int) -> float: ...
    def sum_stats(self, rows: RowArray, n_threads: int) -> StatArray: ...
    def class_weights(self, rows: RowArray, n_threads: int) -> FloatArray: ...

def encode_values(
    values: FloatArray, cuts: FloatArray, on_cut: bool, missing: int, n_threads: int
) -> CodeArray: ...
def draw_rows(n: int, size: int, seed: int) -> tuple[RowArray, ByteArray]: ...
def cover_rows(columns: Columns, tests: IntArray, n_threads: int) -> RowArray: ...
def grow_rule(
    columns: Columns,
    rows: RowArray,
    stats: StatArray,
    score: str,
    l2: float,
    unit: float,
    first_lane: int,
    n_pairs: int,
    first_class: int,
    up: bool,
    down: bool,
    max_conditions: int,
    tolerance: float,
    min_weight: int,
    operators: ByteArray,
    required: ByteArray,
    workspace: Workspace,
    n_threads: int,
) -> tuple[list[tuple[int, int, int, int, float]], int]: ...
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
