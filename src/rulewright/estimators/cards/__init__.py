"""Rule cards: few items with integer points."""
