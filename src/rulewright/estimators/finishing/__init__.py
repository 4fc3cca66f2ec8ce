"""Steps that finish a model: calibration, decisions, compression."""
