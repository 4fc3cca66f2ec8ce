"""One file per model form: how the outcomes of rules become scores."""
