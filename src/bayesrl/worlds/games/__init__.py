"""Worlds of chapter 7.3: games of several players."""
