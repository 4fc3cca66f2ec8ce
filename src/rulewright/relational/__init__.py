"""Rules over related tables: columns derived along keys, models that run as one SQL statement."""

from rulewright.relational.estimators import RelationalClassifier, RelationalRegressor
from rulewright.relational.export import relational_sql
from rulewright.relational.relations import Relations
from rulewright.relational.verification import verify_relational_sql

__all__ = [
    "RelationalClassifier",
    "RelationalRegressor",
    "Relations",
    "relational_sql",
    "verify_relational_sql",
]
