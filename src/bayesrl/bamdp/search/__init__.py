"""Planners that search the tree of hyper-states, or a model's tree."""
