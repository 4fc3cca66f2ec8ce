"""Proofs of policies: against brute force, by the checker, and by hand."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from budget import n_examples
from governance.problems import SCHEMA, brute_force, model, policy
from model.builders import churn_model
from rulewright.governance import (
    AsGoodAs,
    Bounds,
    Equal,
    Monotone,
    Never,
    PointsLimit,
    prove,
    read_policies,
)
from rulewright.governance import checker as checker_module
from rulewright.governance.checker import WrongProof, check
from rulewright.model import AdditiveRules, DnfModel, RuleCard, load_model
from rulewright.rules import Adds, Coverage, Rule, parse_formula

pytestmark = pytest.mark.native
SLACK = 1e-9


def plain(obj):
    """Write to JSON and read it again, as a file would."""
    return json.loads(json.dumps(obj))


def problems(first, last, limit=30_000):
    """Draw models and policies with the answer of brute force; leave out impossible ones."""
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        drawn = model(rng)
        wanted = policy(rng, drawn)
        try:
            worst = brute_force(drawn, wanted, limit)
            proof = prove(drawn, wanted, time_limit=20)[0]
        except ValueError as error:
            if "no value of" not in str(error):
                raise
            continue
        if worst is not None:
            yield seed, drawn, wanted, worst, proof


def test_answers_equal_brute_force():
    """Every answer is that of trying all rows; proofs pass the checker, violations predict."""
    seen = set()
    for seed, drawn, wanted, worst, proof in problems(0, n_examples(600) // 2):
        if getattr(drawn, "linear", ()) and proof.state == "undecided":
            continue  # values vary within a cell: brute force tries its ends only
        assert proof.state == ("proved" if worst <= SLACK else "violated"), seed
        seen.add(proof.state)
        if proof.state == "proved":
            check(plain(drawn.content()), plain(wanted.to_json()), plain(proof.certificate))
        else:
            assert proof.excess > SLACK, seed
            assert len(proof.rows) == len(proof.predictions) == 1 + wanted.pairs, seed
    assert seen == {"proved", "violated"}


@pytest.mark.full("five hundred models and policies")
def test_many_answers_equal_brute_force():
    """Five hundred more models and policies get the answer of trying all rows."""
    n = 0
    for seed, drawn, _, worst, proof in problems(1000, 1540):
        n += 1
        if not (getattr(drawn, "linear", ()) and proof.state == "undecided"):
            assert proof.state == ("proved" if worst <= SLACK else "violated"), seed
    assert n >= 500


def test_violations_are_confirmed_by_predict():
    """The rows of a violation break the policy when a user predicts them."""
    churn = churn_model()
    (proof,) = prove(churn, Bounds(high=0.6, target_class="churn"))
    assert proof.state == "violated"
    (row,) = proof.rows
    place = churn.class_names.index("churn")
    data = {name: [row.get(name)] for name in churn.inputs}
    assert churn.predict_proba(data)[0, place] == proof.predictions[0]["P(churn)"] > 0.6
    rising, falling = (
        prove(churn, Monotone(column="age", direction=way, target_class="churn"))[0]
        for way in ("increasing", "decreasing")
    )
    assert "violated" in (rising.state, falling.state)
    for one in (rising, falling):
        if one.state == "violated":
            low, high = (row["age"] for row in one.rows)
            assert (low < high) == (one is rising)


def test_missing_and_unseen_values_are_in_the_domain():
    """A policy that holds for known values only is violated unless it excludes the others."""
    body, counts = parse_formula("age is missing"), Coverage(1.0, (1.0, 1.0))
    other = Rule(parse_formula("region not in {east, north, west}"), Adds(1, 2.0), counts)
    drawn = AdditiveRules(
        SCHEMA, np.array(["no", "yes"]), (1.0, 0.0), (Rule(body, Adds(1, 3.0), counts), other)
    )
    never = {"target_class": "yes"}
    assert prove(drawn, Never(**never, unseen=False))[0].rows[0]["age"] is None
    (row,) = prove(drawn, Never(**never, missing=False))[0].rows
    assert row["region"] not in SCHEMA["region"].labels
    assert drawn.predict({"age": [1.0], "region": [row["region"]]}).tolist() == ["yes"]
    assert prove(drawn, Never(**never, missing=False, unseen=False)).proved


def test_policies_by_hand():
    """Each kind of policy is decided as a person would on two rules."""
    counts = Coverage(1.0, (1.0, 1.0))
    rules = (
        Rule(parse_formula("age >= 30.5 and income > 0"), Adds(1, 1.0), counts),
        Rule(parse_formula("region = west"), Adds(1, 0.5), counts),
    )
    drawn = AdditiveRules(SCHEMA, np.array(["no", "yes"]), (0.0, -1.0), rules)
    about = {"target_class": "yes"}
    for wanted, state in [
        (Monotone(column="age", **about), "proved"),
        (Monotone(column="age", direction="decreasing", **about), "violated"),
        (Monotone(column="spare", direction="decreasing", **about), "proved"),
        (Bounds(low=0.26, high=0.63, **about), "proved"),
        (Bounds(low=0.27, **about), "violated"),
        (Never(where="region != west", **about), "proved"),  # a tie: the first class wins
        (Never(**about), "violated"),
        (AsGoodAs(values={"region": "east"}, **about), "proved"),
        (AsGoodAs(values={"region": "west"}, **about), "violated"),
        (AsGoodAs(values={"region": "west"}, where="region = west", **about), "proved"),
        (PointsLimit(columns=["region"], at_most=0.5, **about), "proved"),
        (PointsLimit(columns=["region", "age"], at_most=1.0, **about), "violated"),
        (Equal(columns=["region"], **about), "violated"),
        (Equal(columns=["region"], tolerance=0.125, **about), "proved"),
        (Equal(columns=["region"], outcome="decision", where="age < 18", **about), "proved"),
        (Equal(columns=["spare"], **about), "proved"),
    ]:
        assert prove(drawn, wanted)[0].state == state, wanted.title


def proved_problem(rng_seed=0, least=3):
    """Find a model and a policy whose proof divides boxes."""
    for seed in range(rng_seed, rng_seed + 200):
        rng = np.random.default_rng(seed)
        drawn = model(rng)
        wanted = policy(rng, drawn)
        try:
            proof = prove(drawn, wanted)[0]
        except ValueError:
            continue
        if proof.state == "proved" and len(proof.certificate["tree"]) >= least:
            yield seed, plain(drawn.content()), plain(wanted.to_json()), plain(proof.certificate)


def test_mutated_certificates_fail():
    """Without a division, with a swapped or a missing part, a certificate proves nothing."""
    n = 0
    for _, content, wanted, certificate in proved_problem():
        check(content, wanted, certificate)
        tree = certificate["tree"]
        for wrong in (tree[:-1], [*tree, -1], []):
            with pytest.raises(WrongProof):
                check(content, wanted, {**certificate, "tree": wrong})
        with pytest.raises(WrongProof):  # one leaf for all rows: the prover had to divide
            check(content, wanted, {**certificate, "tree": [-1]})
        n += 1
        if n == 4:
            return
    pytest.fail(f"too few proofs with divisions: {n}")


def random_certificate(rng, drawn, wanted):
    """Draw a tree of divisions by conditions of the model, with any shares."""
    conditions = [c.to_json() for rule in drawn.rules for c in rule.body.conditions]
    rows = "ab" if wanted.pairs else "a"
    splits = [
        [str(rng.choice([*rows])), conditions[int(rng.integers(len(conditions)))]] for _ in range(4)
    ]
    tree, open_ = [], 1
    while open_:
        split = int(rng.integers(4)) if len(tree) < 12 and rng.random() < 0.6 else -1
        tree.append(split)
        open_ += 1 if split >= 0 else -1
    shares = {
        str(g): {str(t): rng.exponential(size=3).tolist() for t in range(8)} for g in range(6)
    }
    return {"splits": splits, "tree": tree, "shares": shares if rng.random() < 0.5 else {}}


def test_no_certificate_proves_what_is_violated():
    """For policies that brute force finds violated, drawn trees and shares never pass."""
    n, limit = 0, n_examples(300)
    for seed, drawn, wanted, worst, _ in problems(3000, 3000 + 3 * limit, 3000):
        if worst <= 1e-6 or not drawn.rules:
            continue
        rng = np.random.default_rng(seed)
        content, policy_ = plain(drawn.content()), plain(wanted.to_json())
        for _ in range(10):
            n += 1
            certificate = plain(random_certificate(rng, drawn, wanted))
            with pytest.raises((WrongProof, LookupError, ValueError, TypeError)):
                check(content, policy_, certificate)
        if n >= 10 * limit:
            return
    assert n >= 100


def test_certificates_do_not_fit_other_models_or_policies():
    """A certificate fails for a model with other points, and for a stricter policy."""
    counts = Coverage(1.0, (1.0, 1.0))
    rule = Rule(parse_formula("age >= 18 and income > 0"), Adds(1, 1.0), counts)
    drawn = AdditiveRules(SCHEMA, np.array(["no", "yes"]), (0.0, -1.0), (rule,))
    wanted = Bounds(high=0.6, target_class="yes")
    proof, content = prove(drawn, wanted)[0], plain(drawn.content())
    check(content, plain(wanted.to_json()), proof.certificate)
    with pytest.raises(WrongProof):
        check(content, {**plain(wanted.to_json()), "high": 0.4}, proof.certificate)
    content["rules"][0]["then"]["adds"] = 2.0
    with pytest.raises(WrongProof):
        check(content, plain(wanted.to_json()), proof.certificate)


def test_false_shares_prove_nothing():
    """A checker accepts any shares, but negative ones are refused and none makes a bound wrong."""
    counts = Coverage(1.0, (1.0, 1.0))
    rule = Rule(parse_formula("age >= 18 and income > 0"), Adds(1, 1.0), counts)
    drawn = AdditiveRules(SCHEMA, np.array(["no", "yes"]), (0.0, -1.0), (rule,))
    content, wanted = plain(drawn.content()), plain(Bounds(high=0.4, target_class="yes").to_json())
    for shares in ([-5.0, 6.0], [0.0, 0.0], [9.0, 0.1], [1e-9, 0.0]):
        for g in ("0", "1"):
            certificate = {"splits": [], "tree": [-1], "shares": {g: {"0": shares}}}
            with pytest.raises(WrongProof):
                check(content, wanted, certificate)


def test_time_runs_out():
    """Without time a hard policy stays undecided, with a bound of how far it may be broken."""
    rng = np.random.default_rng(3)
    counts = Coverage(1.0, (1.0, 1.0))
    names = ("age", "income", "spare")
    rules = []
    for _ in range(120):
        parts = [f"{low:.3f} < {name} < {low + 1:.3f}" for name in names for low in [rng.normal()]]
        body = parse_formula(" and ".join(parts))
        rules.append(Rule(body, Adds(int(rng.integers(2)), float(rng.normal())), counts))
    drawn = AdditiveRules(SCHEMA, np.array(["no", "yes"]), (9.0, 0.0), tuple(rules))
    (proof,) = prove(drawn, Bounds(high=0.995, target_class="yes"), time_limit=0.001)
    assert proof.state == "undecided"
    assert 0 < proof.excess <= 0.005
    assert "time ran out" in str(proof)


def test_checker_is_small_and_independent():
    """The checker imports NumPy and the standard library only, and runs on its own."""
    path = Path(checker_module.__file__)
    tree = ast.parse(path.read_text())
    found = {
        name.name.split(".")[0] if isinstance(node, ast.Import) else node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    assert found <= {"bisect", "itertools", "json", "math", "sys", "pathlib", "numpy"}


def test_command_line_of_the_checker(tmp_path):
    """The checker accepts the files that the command writes, and says so by its exit code."""
    churn = churn_model()
    churn.save(tmp_path / "model.json")
    found = prove(churn, [Bounds(high=0.9999, target_class="churn")])
    (tmp_path / "proofs.json").write_text(json.dumps(found.to_json()))
    run = subprocess.run(
        [sys.executable, "-I", checker_module.__file__, "model.json", "proofs.json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("proof holds")
    assert load_model(tmp_path / "model.json") == churn


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[policy]]\nkind = 'monoton'", "policy kind 'monoton': use one of"),
        ("[[policy]]\nkind = 'never'\ntarget = 'yes'", "no option 'target'"),
        ("[[policy]]\nkind = 'monotone'", "an option is missing"),
        ("[[policy]]\nkind = 'bounds'\nhigh = 'x'", "high must be a int"),
        ("policies = 3", "one or more tables"),
        ("x =", "not a TOML file"),
    ],
)
def test_files_of_policies_are_checked(tmp_path, text, message):
    """A wrong file gives an error that names the file and the option."""
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"policy\.toml") as error:
        read_policies(path)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Never(target_class="maybe"), "target_class 'maybe' is not one of"),
        (Never(), "name the target_class"),
        (Monotone(column="agee", target_class="churn"), "no column 'agee'"),
        (Monotone(column="color", target_class="churn"), "has no order"),
        (Monotone(column="age", direction="up", target_class="churn"), "direction='up'"),
        (Bounds(target_class="churn"), "give low, high or both"),
        (Never(target_class="churn", where="age < 3 and color > 2"), "color"),
        (Never(target_class="churn", where="age > 3", missing=False, name="x"), ""),
        (AsGoodAs(values={"color": "pink"}, target_class="churn"), "no label 'pink'"),
    ],
)
def test_policies_must_fit_the_model(wanted, message):
    """A policy that does not fit the model gives an error that names what is wrong."""
    if not message:
        prove(churn_model(), wanted)
        return
    with pytest.raises(ValueError, match=r".") as error:
        prove(churn_model(), wanted)
    assert message in str(error.value)


def test_other_forms_are_refused():
    """A model form that prove does not support is named."""
    with pytest.raises(ValueError, match="not DnfModel"):
        prove(object.__new__(DnfModel), Never(target_class="churn"))


def card():
    """Make a card whose points are worth half a unit of log-odds."""
    counts = Coverage(40.0, (20.0, 20.0))
    rules = (
        Rule(parse_formula("age >= 30.5"), Adds(1, 1.5), counts),
        Rule(parse_formula("region = west"), Adds(1, -1.0), counts),
    )
    return RuleCard(SCHEMA, np.array(["no", "yes"]), (0.0, 0.25), rules, unit=0.5, start=10.0)


def test_points_of_cards_are_those_of_the_card():
    """A limit, what it is broken by, and its certificate are in points of the card."""
    about = {"columns": ["age"], "target_class": "yes"}
    holds, broken = prove(card(), [PointsLimit(at_most=a, **about) for a in (3.0, 2.0)])
    assert (holds.state, broken.state) == ("proved", "violated")
    assert broken.excess == pytest.approx(1.0)
    content = plain(card().content())
    check(content, plain(holds.policy.to_json()), plain(holds.certificate))
    with pytest.raises(WrongProof):
        check(content, plain(broken.policy.to_json()), plain(holds.certificate))
