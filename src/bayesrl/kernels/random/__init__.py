"""Random streams and distributions in compiled code."""
