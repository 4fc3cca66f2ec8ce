"""The 60-second tour: learn rules, read them, explain a decision, save, export.

Usage: python quickstart.py
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import rulewright as rw

LOANS = Path(__file__).with_name("loans.csv")

APPLICANT = {
    "age": [29],
    "income": [1900],
    "employment_years": [1.5],
    "owns_home": [False],
    "region": ["north"],
    "purpose": ["business"],
    "amount": [12000],
    "term_months": [48],
    "late_payments": [1],
    "credit_history": [None],
}


def main():
    """Take the tour."""
    print("1. Learn from a file: kinds, categories and missing values are found in it\n")
    table = rw.read_table(LOANS, target="repaid")
    print(table.schema)
    estimator = rw.MLRulesClassifier(max_rules=60, max_conditions=3, random_state=0)
    model = estimator.fit(table).model_

    print("\n2. Read the strongest rules\n")
    model.print(max_rules=8)

    print("\n3. Explain one decision\n")
    print(model.explain(APPLICANT))

    print("\n4. Save, load, predict the same\n")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "loans.json"
        model.save(path)
        loaded = rw.load_model(path)
    same = (loaded.predict_proba(LOANS) == model.predict_proba(LOANS)).all()
    print(f"probabilities of the loaded model are identical: {same}")

    print("\n5. Run the model in a database: here its two first rules\n")
    print(model[:2].to_sql(table="loans", dialect="postgres"))
    print(model.verify_exports())


if __name__ == "__main__":
    main()
