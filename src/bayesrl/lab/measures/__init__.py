"""What is measured on runs."""
