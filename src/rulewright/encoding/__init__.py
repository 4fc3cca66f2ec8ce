"""What search sees: bins and codes of columns, Boolean variables, packed covers."""
