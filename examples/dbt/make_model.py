"""Write a dbt model that scores another dbt model: python make_model.py loans.json loans OUT.

The statement of the export reads a table of the given name; a WITH makes it the dbt model of that
name. Names and labels with braces stay as they are, because dbt does not read the statement.
"""

import argparse
from pathlib import Path

import rulewright as rw

TEMPLATE = """-- written by make_model.py from {file}: do not edit, export again
WITH "{source}" AS (SELECT * FROM {{{{ ref('{source}') }}}})
SELECT * FROM (
{{% raw %}}
{statement}
{{% endraw %}}
) AS scored
"""

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("model", help="the saved model")
parser.add_argument("source", help="the dbt model or seed with the rows")
parser.add_argument("output", help="the dbt model to write")
parser.add_argument("--dialect", default="duckdb")
given = parser.parse_args()
statement = rw.load_model(given.model).to_sql(table=given.source, dialect=given.dialect)
text = TEMPLATE.format(
    file=Path(given.model).name, source=given.source, statement=statement.rstrip().rstrip(";")
)
Path(given.output).write_text(text)
