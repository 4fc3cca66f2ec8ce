"""Sessions: random edits over all forms, previews, undo, logs and replays."""

import html
from dataclasses import replace

import numpy as np
import pytest

import checker
from budget import is_full
from builders import compact, mixed_table, mlrules, part, ripper, rulefit, rumble, slipper
from rulewright import CompactRulesRegressor, load_model, write_report
from rulewright.data import DataError, ModelWarning
from rulewright.model import DecisionList, describe_edits, hash_model
from rulewright.rules import Adds, Head, Range, Says, parse_formula
from rulewright.search import Constraints
from rulewright.workbench import EditError, EditLog, Session, compare_models, replay
from rulewright.workbench.compliance import required_sign


def regressor(**options):
    return CompactRulesRegressor(max_rules=6, size="max", **options)


MAKERS = {
    "compact": compact,
    "mlrules": lambda **options: mlrules(max_rules=8, **options),
    "slipper": slipper,
    "rulefit": rulefit,
    "rumble": rumble,
    "regression": regressor,
    "ripper": ripper,
    "part": part,
}


def drawn(seed, name):
    """Draw a schema, rows and a fitted model."""
    rng = np.random.default_rng(seed)
    n_classes = 2 if name in ("slipper", "rumble") else int(rng.integers(2, 4))
    X, y = mixed_table(rng, int(rng.integers(60, 140)), n_classes=n_classes, continuous=True)
    X = {key: X[key] for key in rng.permutation(list(X))[: rng.integers(2, len(X) + 1)]}
    if name == "regression":
        y = np.array([float(len(str(v))) for v in y]) + rng.normal(size=len(y))
        y = y + 2.0 * (np.arange(len(y)) % 3)
    w = rng.exponential(size=len(y)) + 0.1 if seed % 3 == 0 else None
    return X, y, w, MAKERS[name](random_state=0).fit(X, y, w).model_


def some_condition(rng, session):
    """Draw the text of a condition on a column of the model."""
    column = list(session.model.schema)[int(rng.integers(len(session.model.schema.names)))]
    if not column.type.ordered:
        return f"{quoted(column.name)} = {quoted(str(rng.choice(column.labels)))}"
    values = session.state.form.rows.table[column.name].values
    value = rng.choice(values[~np.isnan(values)])
    return f"{quoted(column.name)} {rng.choice(['<=', '>='])} {float(value)!r}"


def some_constraints(rng, session):
    """Draw a column that no rule may use, or a direction of a numeric one."""
    columns = list(session.model.schema)
    column = columns[int(rng.integers(len(columns)))]
    if column.kind == "numeric" and rng.random() < 0.7:
        return {"monotone": {column.name: str(rng.choice(["increasing", "decreasing"]))}}
    return {"forbidden": [column.name]}


def quoted(text):
    return f'"{text}"'


def random_edit(rng, session):
    """Draw an edit and preview it; None if it cannot be made."""
    model, n = session.model, len(session.model)
    is_list = isinstance(model, DecisionList)
    pick = (lambda: int(rng.integers(1, n + 1))) if n else (lambda: 1)
    tasks = {
        "add": lambda: session.add(some_condition(rng, session)),
        "drop": lambda: session.drop([pick()]),
        "replace": lambda: session.replace(pick(), some_condition(rng, session)),
        "split": lambda: session.split(pick(), some_condition(rng, session)),
        "merge": lambda: session.merge([pick(), pick()]),
        "round": lambda: session.round_thresholds(int(rng.integers(1, 4))),
        "freeze": lambda: session.freeze([pick()]),
        "thaw": lambda: session.thaw([pick()]),
        "refit": session.refit,
        "points": lambda: session.set_points(pick(), float(rng.normal())),
        "grow": lambda: session.grow(1),
        "move": lambda: session.move(pick(), pick()),
        "constrain": lambda: session.constrain(some_constraints(rng, session)),
    }
    for unfit in ("points", "grow") if is_list else ("move",):
        del tasks[unfit]
    if not n:
        tasks = {name: tasks[name] for name in ("add", "refit")}
    try:
        return tasks[rng.choice(list(tasks))]()
    except EditError:
        return None


def recount(model, table):
    """Compute scores from the rules alone."""
    held = [np.asarray(rule.body.holds(table)) for rule in model.rules]
    if isinstance(model, DecisionList):
        scores = np.tile(np.array(model.default), (table.n_rows, 1))
        for rule, rows in list(zip(model.rules, held, strict=True))[::-1]:
            assert isinstance(rule.outcome, Says)
            scores[rows] = rule.outcome.distribution
        return scores
    width = model.n_classes or 1
    start = model.intercepts if model.n_classes else (model.intercept,)
    scores = np.tile(np.array(start), (table.n_rows, 1))
    for rule, rows in zip(model.rules, held, strict=True):
        assert isinstance(rule.outcome, Adds)
        classes = rule.head.classes if width > 1 else slice(None)
        scores[rows, classes] += rule.outcome.value
        scores[np.asarray(rule.body.fails(table)), classes] += rule.outcome.otherwise
    for line in model.linear:
        values = table[line.column].values
        units = np.where(np.isnan(values), 0, np.clip(values, line.low, line.high) - line.center)
        scores += units[:, None] * np.array(line.slopes)
    return scores if model.n_classes else scores[:, 0]


def fixed_points(session):
    """Give the points of frozen rules by their conditions."""
    pairs = zip(session.state.model.rules, session.state.frozen, strict=True)
    return {(str(r.body), tuple(r.head)): str(r.outcome.to_json()) for r, held in pairs if held}


def check_constraints(session):
    """Free points of rules that can comply with monotone columns comply after a refit."""
    state = session.state
    for rule, held in zip(state.model.rules, state.frozen, strict=True):
        sign = required_sign(rule, state.model, state.constraints)
        if not held and sign and isinstance(rule.outcome, Adds):
            assert rule.outcome.value * sign >= 0


def check_uses(model, table, path):
    """Check exports, explanations, report and file of an edited model."""
    assert model.verify_exports()
    assert str(model.explain(table.take(np.arange(3))))
    write_report(model, path / "r.html")
    page = html.unescape((path / "r.html").read_text())
    assert all(line in page for line in describe_edits(model))
    model.save(path / "m.json")
    assert load_model(path / "m.json") == model


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(125 if is_full else 6))
def test_random_edits_keep_everything_valid(seed, name, tmp_path):
    """After each edit scores, exports, files, frozen points, undo and replay are right."""
    X, y, w, model = drawn(seed, name)
    rng = np.random.default_rng([seed, 1])
    session = Session(model, X, y, sample_weight=w, cv=3, author="test")
    table = session.state.form.rows.table
    for step in range(5):
        if step == 3:  # another day, with other folds
            held = fixed_points(session)
            session.model.save(tmp_path / "m.json")
            session = Session(load_model(tmp_path / "m.json"), X, y, sample_weight=w, cv=4)
            assert fixed_points(session) == held
        preview, before = random_edit(rng, session), hash_model(session.model)
        if preview is None:
            continue
        held = fixed_points(session)
        assert str(preview)
        assert preview.to_json()["text"]
        assert hash_model(session.model) == before  # a preview changes nothing
        session.apply(preview, "because")
        after = session.model
        np.testing.assert_allclose(after.scores(table), recount(after, table), atol=1e-9)
        if preview.edit.word == "refit":
            assert fixed_points(session) == held
            check_constraints(session)
        session.undo()
        assert hash_model(session.model) == before
        session.redo()
        assert session.model == after
        if is_full or step == 4:
            check_uses(after, table, tmp_path)
    if session.log.entries:
        again = replay(EditLog.of(session.model), X, y, sample_weight=w)
        assert hash_model(again.model) == hash_model(session.model)
        assert len(again.log.entries) == len(session.log.entries)


@pytest.fixture
def loans():
    rng = np.random.default_rng(5)
    n = 400
    X = {"a": rng.normal(size=n), "b": rng.integers(0, 5, n), "c": rng.choice(list("xyz"), n)}
    score = 2.0 * (X["a"] > 0.5) - 1.5 * (X["b"] >= 3) + 1.0 * (X["c"] == "x")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "good", "bad")
    return X, y


@pytest.fixture
def session(loans):
    return Session(compact(random_state=0, max_rules=4, size="max").fit(*loans), *loans, cv=4)


def test_a_frozen_rule_does_not_move(session):
    """A refit moves every point but the frozen one, which stays to the last bit."""
    session.apply(session.set_points(1, 1.25))
    rule = session.model.rules[0] if session.model.numbers[0] == 1 else None
    frozen = [r for r, held in zip(session.model.rules, session.state.frozen, strict=True) if held]
    before = {str(r.body): r.outcome.value for r in session.model.rules}
    session.apply(session.refit())
    after = {str(r.body): r.outcome.value for r in session.model.rules}
    [name] = [str(r.body) for r in frozen]
    assert after[name] == 1.25
    assert all(after[k] != before[k] for k in before if k != name)
    assert session.frozen == [name]
    assert rule is None or str(rule.body) == name


def test_a_stale_preview_is_refused(session):
    """A preview belongs to the model that it was made from."""
    first, second = session.drop([1]), session.drop([2])
    session.apply(first)
    with pytest.raises(DataError, match="preview the edit again"):
        session.apply(second)


def test_held_out_figures_are_of_models_without_the_rows(session, loans):
    """The figures are those of refits without each fold, computed again by hand."""
    session.apply(session.refit())
    rows = session.state.form.rows
    y = rows.targets
    p = np.empty((len(y), 2))
    for fold in range(4):
        held = rows.folds.held_out_mask(fold)
        own = Session(
            session.model, rows.table.take(np.flatnonzero(~held)), y=rows.used.classes[y[~held]]
        )
        own.apply(own.refit())
        p[held] = own.model.predict_proba(rows.table.take(np.flatnonzero(held)))
    loss = -np.log(p[np.arange(len(y)), y]).mean()
    assert session.figures["log_loss"] == pytest.approx(loss, abs=1e-5)


def test_grown_rules_are_grown_again_in_each_fold():
    """On noise the held-out loss of grown rules rises, though the training loss falls."""
    rng = np.random.default_rng(0)
    X, y = {f"x{k}": rng.normal(size=150) for k in range(8)}, rng.integers(0, 2, 150)
    session = Session(mlrules(max_rules=1, random_state=0).fit(X, y), X, y)
    preview = session.grow(4)
    assert len(preview.model) == len(session.model) + 4
    change = next(one for one in preview.figures if one.key == "log_loss")
    assert change.difference > 0

    def loss(model):
        p = model.predict_proba(X)
        return -np.log(p[np.arange(150), y]).mean()

    assert loss(preview.model) < loss(session.model)


def test_changes_have_paired_intervals(session, loans):
    """The interval of a change contains the change on many new rows."""
    rng = np.random.default_rng(77)
    n = 40_000
    X = {"a": rng.normal(size=n), "b": rng.integers(0, 5, n), "c": rng.choice(list("xyz"), n)}
    score = 2.0 * (X["a"] > 0.5) - 1.5 * (X["b"] >= 3) + 1.0 * (X["c"] == "x")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "good", "bad")
    session.apply(session.refit())
    preview = session.drop([1])
    found = compare_models(session.model, preview.model, X, y)
    true = {one.key: one.difference for one in found.figures}
    for one in preview.figures:
        if np.isfinite(one.low):
            width = one.high - one.low
            assert one.low - width <= true[one.key] <= one.high + width
    assert true["log_loss"] > 0


def test_the_final_part_is_opened_and_counted(loans):
    """Rows of the final part are not used before, and the log says how often they were."""
    est = compact(random_state=0, max_rules=4, size="max").fit(*loans)
    session = Session(est, *loans, holdout=0.25)
    rows = session.state.form.rows
    assert rows.final.n_rows == 100
    assert not set(rows.final.places) & set(rows.used.places)
    session.apply(session.refit())
    figures = session.open_final()
    assert {one.key for one in figures} >= {"log_loss", "accuracy", "auc"}
    session.open_final()
    assert session.log.opened == 2
    assert "opened 2 times" in session.log.to_markdown()
    with pytest.raises(DataError, match="holdout"):
        Session(est, *loans).open_final()


def test_constraints_are_reported_and_respected(session):
    """Rules that break a constraint are named, and refits keep the required signs."""
    preview = session.constrain(forbidden=["b"], monotone={"a": "increasing"})
    own = [one for one in preview.broken if "forbidden column b" in one]
    assert len(own) == sum("b" in rule.body.columns for rule in session.model.rules) > 0
    session.apply(preview)
    session.apply(session.add("a <= -1", votes="good"))  # the wrong way round
    session.apply(session.refit())
    for rule in session.model.rules:
        [*ranges] = [c for c in rule.body.conditions if c.column == "a" and isinstance(c, Range)]
        if ranges and len(rule.body.columns) == 1 and np.isinf(ranges[0].low):
            sign = 1 if rule.head.first == 0 else -1
            assert rule.outcome.value * sign >= 0
    grown = session.grow(3).model
    new = {str(r.body) for r in grown.rules} - {str(r.body) for r in session.model.rules}
    assert not any(text.startswith("b ") or " b " in text for text in new)


@pytest.mark.parametrize(
    ("body", "sign"),
    [
        ("a >= 1", 1),
        ("a >= 1 or (a > 2 and b <= 3)", 1),
        ("not a >= 1 and b = 2", -1),
        ("a <= 1 or c = x", -1),
        ("a >= 1 or a <= -1", None),
        ("0 <= a <= 1", None),
        ("a >= 1 or a is missing", None),
        ("b <= 3", 0),
    ],
)
def test_formulas_may_be_monotone(session, body, sign):
    """Joined rules keep a direction that all their conditions on the column have."""
    rule = session.model.rules[0].with_outcome(Adds(Head(1, 1), 1.0))
    found = required_sign(
        replace(rule, body=parse_formula(body)),
        session.model,
        Constraints(monotone={"a": "increasing"}),
    )
    assert found == sign


def test_suggestions_are_what_replacing_gives(session):
    """Each suggested change of the loss is that of the preview of replacing the rule."""
    for one in session.suggest(1, 5):
        preview = session.replace(1, one.text)
        change = preview.figures[0].difference
        assert one.change == pytest.approx(change, abs=1e-9)
        assert 0 < one.overlap <= 1
    rule = next(r for r in session.model.rules if "a" in r.body.columns)
    cuts = session.suggest_cuts(rule, "a")
    assert len(cuts) > 5
    assert sorted(cut for cut, _ in cuts) == [cut for cut, _ in cuts]
    assert min(change for _, change in cuts) < 0.05


def test_freezing_has_a_cost(session):
    """A point far from its optimum costs log-loss, one at its optimum next to nothing."""
    session.apply(session.refit())
    session.apply(session.freeze([1]))
    [cheap] = [one for one in session.cost_of_freezing() if one.key == "log_loss"]
    session.apply(session.set_points(1, -3.0))
    [dear] = [one for one in session.cost_of_freezing() if one.key == "log_loss"]
    assert abs(cheap.difference) < 0.01 < dear.difference
    assert dear.low > 0


def test_a_preview_says_what_a_fixed_value_costs(session):
    """It compares the fixed points with fitted ones of the same rule; other edits cost nothing."""
    preview = session.set_points(1, -3.0)
    fitted = session.model.rules[session.model.numbers.index(1)].outcome.value
    assert preview.cost.startswith("fixing -3 instead of ")
    assert float(preview.cost.split()[4].removesuffix(":")) == pytest.approx(fitted, abs=0.3)
    assert "changes Log-loss by +" in preview.cost
    assert preview.cost in str(preview)
    assert preview.to_json()["cost"] == preview.cost
    assert session.drop([1]).cost == ""
    assert session.add("b >= 4", votes="bad", points=2.0).cost
    session.apply(preview)
    assert session.drop([2]).cost == ""  # what is fixed already is no news


def test_freezing_alone_changes_no_figure(session):
    """Without each fold a frozen rule keeps the points that were fitted without it."""
    preview = session.freeze([1, 2])
    assert all(one.difference == 0 for one in preview.figures)
    assert not preview.changed.any()


def test_frozen_rules_stay_frozen_in_the_file(session, loans, tmp_path):
    """A session on a saved model holds what was frozen, and its log replays to the same hash."""
    session.apply(session.freeze([1]))
    session.apply(session.refit())
    session.model.save(tmp_path / "m.json")
    other = Session(load_model(tmp_path / "m.json"), *loans, cv=3, holdout=0.2)
    assert other.frozen == session.frozen != []
    held = fixed_points(other)
    other.apply(other.grow(1))
    other.apply(other.refit())
    assert fixed_points(other) == held
    other.open_final()
    log = EditLog.of(other.model)
    assert [one.at for one in log.sessions] == [0, 2]
    assert [one.settings["cv"] for one in log.sessions] == [4, 3]
    assert log.opened == 1
    assert hash_model(replay(log, *loans).model) == hash_model(other.model)


def test_rules_that_become_equal_are_joined(session):
    """Rounding joins them, and their points are added, in each fold too."""
    session.apply(session.add("a >= 1.12", votes="good", points=1.0))
    session.apply(session.add("a >= 1.14", votes="good", points=0.5))
    preview = session.round_thresholds(2, ["a >= 1.12", "a >= 1.14"])
    assert len(preview.model) == len(session.model) - 1
    for model in (preview.model, *preview.after.folds):
        [joined] = [rule for rule in model.rules if str(rule.body) == "a >= 1.1"]
        assert joined.outcome.value == pytest.approx(1.5)


def test_all_constraints_are_reported(session):
    """Groups, operators, digits and required columns are checked too."""
    session.apply(session.add("a >= 1.125 and c = x", votes="good", points=1.0))
    options = {"groups": [["a", "b"]], "operators": {"a": ["<="]}, "digits": 2, "required": ["b"]}
    preview = session.constrain(**options)
    own = [line.split(": ", 1)[1] for line in preview.broken if "1.125" in line]
    assert own == [
        "lacks the required column b",
        "joins columns of different groups: a, c",
        "uses the operator >= on a",
        "has a threshold of more than 2 digits: a >= 1.125",
    ]


def test_a_difference_names_the_decisions(session, loans):
    """Changed predictions are counted by their classes, with examples among the rows."""
    preview = session.drop([1])
    found = compare_models(session.model, preview.model, *loans)
    assert sum(found.moves.values()) == found.n_changed > 0
    before, after = session.model.predict(loans[0]), preview.model.predict(loans[0])
    assert found.examples == np.flatnonzero(before != after)[:5].tolist()
    (one, other), n = next(iter(found.moves.items()))
    assert n == ((before == one) & (after == other)).sum()
    assert f"{n} {one} -> {other}" in str(found)


def test_a_log_is_replayed_on_another_fit(session, loans):
    """Decisions are made again on new rows; a rule that is not there is left out with a warning."""
    X, y = loans
    session.apply(session.drop([1]), "not allowed", "Ada")
    session.apply(session.add("b >= 4", votes="bad", points=2.0), "policy")
    session.apply(session.refit())
    half = np.arange(400) % 2 == 0
    fresh = compact(random_state=1, max_rules=2, size="max").fit(
        {k: v[half] for k, v in X.items()}, y[half]
    )
    with pytest.warns(ModelWarning, match="replay leaves out 'drop"):
        again = replay(session.log, {k: v[half] for k, v in X.items()}, y[half], model=fresh)
    assert [entry.reason for entry in again.log.entries] == ["policy", ""]
    assert "b >= 4" in {str(rule.body) for rule in again.model.rules}
    assert "not allowed" in session.log.to_markdown()


def test_edits_without_rows(session, loans, tmp_path):
    """A loaded model can be edited without data, as far as nothing must be counted or fitted."""
    session.model.save(tmp_path / "m.json")
    blind = Session(load_model(tmp_path / "m.json"))
    blind.apply(blind.drop([1]))
    blind.apply(blind.set_points(1, 0.5))
    blind.apply(blind.add("a >= 2", votes="good", points=1.0))
    assert len(blind.model) == len(session.model)
    assert blind.figures == {}
    assert str(blind.drop([1]))
    for impossible in (blind.refit, lambda: blind.grow(1), lambda: blind.suggest(1)):
        with pytest.raises(DataError, match="open the session with X and y"):
            impossible()
    with pytest.raises(EditError, match="give points"):
        blind.add("a >= 3", votes="good")


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (lambda s: s.drop([9]), "there is no rule 9"),
        (lambda s: s.drop(["a >= 77"]), "there is no rule 'a >= 77'"),
        (lambda s: s.replace(1, "z > 3"), "the model has no column 'z'"),
        (lambda s: s.replace(1, "a >"), "is not a condition"),
        (lambda s: s.replace(1, "a > 3 and a < 2"), "no row can satisfy"),
        (lambda s: s.add("c = x", points=1.0), "points need a class"),
        (lambda s: s.add("a > 3", votes="fine"), "is not a class"),
        (lambda s: s.set_points(1, np.inf), "must be finite"),
        (lambda s: s.merge([1, 1]), "two rules or more"),
        (lambda s: s.round_thresholds(0), "from 1 to 15"),
        (lambda s: s.grow(0), "at least 1"),
        (lambda s: s.move(1, 1), "only the rules of a decision list"),
        (lambda s: s.undo(), "nothing to undo"),
        (lambda s: s.redo(), "nothing to redo"),
        (lambda s: s.suggest_cuts(1, "c"), "has no single threshold"),
    ],
)
def test_impossible_edits_say_why(session, task, message):
    """What cannot be done is refused in one line, and nothing changes."""
    before = hash_model(session.model)
    with pytest.raises(DataError, match=message):
        task(session)
    assert hash_model(session.model) == before


def test_a_rule_is_not_added_twice(session):
    """A rule with the conditions and the class of another one is refused."""
    rule = session.model.rules[0]
    with pytest.raises(EditError, match="has this rule already"):
        session.add(str(rule.body), votes=rule.head.text(session.model.class_names))


def test_models_of_other_forms_are_refused(loans):
    """The message names the forms that can be edited."""
    from builders import cn2  # noqa: PLC0415 - only here

    with pytest.raises(DataError, match=r"cannot be edited\. Models that can: AdditiveRules"):
        Session(cn2(random_state=0).fit(*loans), *loans)


def test_an_edited_file_passes_the_independent_checker(session, tmp_path):
    """Another reader of model files gives the same probabilities."""
    session.apply(session.split(1, "c = x"))
    session.apply(session.refit())
    session.model.save(tmp_path / "m.json")
    table = session.state.form.rows.table
    assert checker.__doc__
    loaded = load_model(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.scores(table), session.model.scores(table))


def test_an_added_rule_finds_its_class(session):
    """Without a class the rule raises the class that gains, as if that class were named."""
    for text in ("b >= 4", "b <= 0", "c = x and a > 0", "a < -1"):
        preview = session.add(text)
        rule = preview.model.rules[-1]
        assert rule.outcome.value > 0
        named = session.add(text, votes=rule.head.text(preview.model.class_names))
        value = named.model.rules[-1].outcome.value
        np.testing.assert_allclose(value, rule.outcome.value, rtol=1e-6)
        figures = [[one.after for one in p.figures] for p in (preview, named)]
        np.testing.assert_allclose(*figures, atol=1e-6)


def test_reports_and_texts_name_the_edits(session, tmp_path):
    """The report of an edited model lists its edits, names escaped."""
    session.apply(session.drop([1]), "<b>bold</b>", "Ada")
    write_report(session.model, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "by Ada: drop" in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert describe_edits(session.model)[0].endswith("(<b>bold</b>)")
    assert describe_edits(session.model.with_summary({"edits": {"entries": [3, None]}}))
