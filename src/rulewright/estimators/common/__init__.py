"""What the estimators share: the contract, parameters, folds, steps after the fit."""
