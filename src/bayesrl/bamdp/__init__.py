"""bamdp."""
