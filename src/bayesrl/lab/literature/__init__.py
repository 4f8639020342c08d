"""Published figures and set-ups, and our scores beside them."""
