"""Steps that finish a model: calibration, costs, compression."""
