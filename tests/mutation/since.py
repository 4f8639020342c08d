"""What has changed since a commit, as far as the history tells."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def git(*command):
    return subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=False)


def changed_since(commit):
    """Files that are new or changed since a commit that HEAD descends from; None if it does not, or nobody knows.

    A file that was only moved has not changed.
    """
    if not commit or git("merge-base", "--is-ancestor", commit, "HEAD").returncode != 0:
        return None
    differs = git("diff", "--name-only", "--diff-filter=AMT", "--find-renames=100%", "-l0", commit)
    new = git("ls-files", "--others", "--exclude-standard")
    return set(differs.stdout.split()) | set(new.stdout.split())
