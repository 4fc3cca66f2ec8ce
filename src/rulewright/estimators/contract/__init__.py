"""The contract of estimators: parameters, reading data, `fit`, and what the model provides."""
