"""Finite MDPs, families of them, and the infinite grid."""
