"""Tables in parts, and what models are compared by."""

import json

import numpy as np
import pandas as pd


def mixed_table(n_rows=700, seed=0, classes=("no", "yes")):
    """Make numbers, labels and missing values, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n_rows).round(2) for j in range(3)})
    frame["count"] = rng.integers(0, 5, size=n_rows)
    frame["color"] = rng.choice(["red", "green", "blue"], size=n_rows).astype(object)
    frame.loc[rng.random(n_rows) < 0.1, "x1"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "color"] = None
    score = frame["x0"] + (frame["color"] == "red") + (frame["x1"].fillna(0) > 0.5)
    score += 0.3 * frame["count"] + rng.normal(size=n_rows)
    places = np.searchsorted(np.quantile(score, np.arange(1, len(classes)) / len(classes)), score)
    frame["y"] = np.array(classes, dtype=object)[places]
    return frame


def parted(frame, n_parts, seed=None):
    """Cut a table into parts, of rows in their order or in any order."""
    if seed is not None:
        frame = frame.sample(frac=1, random_state=seed)
    return [frame.iloc[rows] for rows in np.array_split(np.arange(len(frame)), n_parts)]


def content_hash(model, folder):
    """Return the hash that a saved model has."""
    model.save(folder / "model.json")
    return json.loads((folder / "model.json").read_text())["sha256"]
