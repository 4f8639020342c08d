"""Published figures, published set-ups, and ours beside them."""
