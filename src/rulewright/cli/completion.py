"""Words that the shell completes."""

from rulewright.estimators import LEARNERS, REGRESSORS


def learner_names(incomplete: str) -> list[tuple[str, str]]:
    """Give the learners that start with what was typed, each with what it is taken for."""
    known = {**REGRESSORS.entries, **LEARNERS.entries}
    return [(name, known[name].use) for name in LEARNERS if name.startswith(incomplete)]


def setting_names(ctx: object, incomplete: str) -> list[str]:
    """Give the parameters of the chosen learner that start with what was typed."""
    chosen = getattr(ctx, "params", {}).get("learner") or next(iter(LEARNERS))
    if chosen not in LEARNERS:
        return []
    return [f"{name}=" for name in LEARNERS[chosen].settable() if name.startswith(incomplete)]
