"""Beliefs about arms that pay amounts of money: known prices, known values of outcomes, random amounts."""
