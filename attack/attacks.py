"""The attacks, by name: a new one is a file and a line here."""

from __future__ import annotations

from attack.attempts import Attack

_ALL = (
    Attack("models", "attack.model_files:attempt", "changed model files whose hash fits"),
    Attack("files", "attack.data_files:attempt", "damaged data files of all formats"),
    Attack("readers", "attack.readers:attempt", "the same random table through every reader"),
    Attack("exports", "attack.exports:attempt", "exports against their model", share=1.5),
    Attack("dates", "attack.dates:attempt", "odd dates in exports, SQL and arrays", share=0.3),
    Attack("weights", "attack.weights:attempt", "weights over hundreds of orders of magnitude"),
    Attack("sizes", "attack.sizes:attempt", "tables with one enormous dimension", 600.0),
    Attack("saving", "attack.saving:attempt", "kills and full disks while files are saved"),
    Attack("limits", "attack.limits:attempt", "too little memory, too few threads", 120.0),
    Attack("kernels", "attack.kernels:attempt", "kernels against twins", 120.0, sanitized=True),
    Attack("soak", "attack.soak:attempt", "memory, descriptors and threads over time", 300.0),
)
ATTACKS = {attack.name: attack for attack in _ALL}
