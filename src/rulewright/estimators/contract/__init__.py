"""The contract of estimators: parameters, reading, `fit`, and what follows from the model."""
