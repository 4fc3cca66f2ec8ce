"""The attacks, by name: a new one is a file and an entry here."""

from __future__ import annotations

from attack.attempts import Attack

_ALL = (
    Attack(
        "models",
        "attack.model_files:attempt",
        "model files are changed at random, with a hash that fits",
        "the file loads and predicts, or a `ModelFileError` names the place",
    ),
    Attack(
        "derived",
        "attack.derived_models:attempt",
        "files of relational models and models of graphs ask for long paths and large patterns",
        "predictions, or a clear error, within seconds and 1 GB",
        share=0.5,
    ),
    Attack(
        "files",
        "attack.data_files:attempt",
        "data files of all formats are damaged, and small ones expand to gigabytes",
        "the table is read, or a `DataError` names the place and the remedy",
    ),
    Attack(
        "databases",
        "attack.databases:attempt",
        "DuckDB files define views, macros and columns, or are damaged",
        "nothing that they define runs; the tables are read, or a `DataError` says why not",
        share=0.5,
    ),
    Attack(
        "readers",
        "attack.readers:attempt",
        "the same random table is read through every reader",
        "all tables are equal",
    ),
    Attack(
        "exports",
        "attack.exports:attempt",
        "random models are exported and run on adversarial rows",
        "every export gives the answers of the model",
        share=1.5,
    ),
    Attack(
        "dates",
        "attack.dates:attempt",
        "odd dates go through exports, SQL and arrays",
        "the answer of the model, or a refusal",
        share=0.3,
    ),
    Attack(
        "pages",
        "attack.pages:attempt",
        "names, labels and classes hold tags and scripts",
        "no tag of a report, a notebook or a chart comes from the data",
        share=0.5,
    ),
    Attack(
        "weights",
        "attack.weights:attempt",
        "weights over hundreds of orders of magnitude go through every learner and later step",
        "finite figures, or a clear error; a warning with every model without rules",
    ),
    Attack(
        "sizes",
        "attack.sizes:attempt",
        "every learner gets a table with up to 100,000 labels, 20,000 columns, 500 classes or "
        "300,000 rows",
        "a model within two minutes of processor time and 3 GB, or an error that names the limit",
        timeout=600.0,
    ),
    Attack(
        "saving",
        "attack.saving:attempt",
        "processes are killed and disks filled while files are saved; fits are terminated",
        "the old or the new file is there, complete, and no temporary one",
    ),
    Attack(
        "limits",
        "attack.limits:attempt",
        "memory and threads are taken away",
        "a result or a clear error, never a signal",
        timeout=120.0,
    ),
    Attack(
        "kernels",
        "attack.kernels:attempt",
        "native kernels run on random examples and with invalid arguments, on a sanitizer build",
        "the NumPy twin's result, or an error",
        timeout=120.0,
        sanitized=True,
    ),
    Attack(
        "soak",
        "attack.soak:attempt",
        "fit, predict, save, load and export run again and again",
        "memory, file descriptors and threads do not grow",
        timeout=300.0,
    ),
)
ATTACKS = {attack.name: attack for attack in _ALL}
