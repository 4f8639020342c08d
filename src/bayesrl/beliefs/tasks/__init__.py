"""Beliefs about several tasks."""
