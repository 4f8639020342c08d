"""Policies, one class per file; `bayesrl.models.policy` exports them."""
