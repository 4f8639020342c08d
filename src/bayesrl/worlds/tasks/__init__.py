"""Worlds of chapter 7: rewards to be recovered from demonstrations, and families of related tasks."""
