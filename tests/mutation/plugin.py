"""A pytest plugin that plants one bug: a module's source is read with one piece of text replaced.

The bug comes as JSON in the environment variable BAYESRL_MUTANT: module, old, new, and, if only one place is meant,
start, where the old text begins.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys

MUTANT = json.loads(os.environ.get("BAYESRL_MUTANT", "null"))


class Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname):
        source, old, new = self.get_source(fullname), MUTANT["old"], MUTANT["new"]
        start = MUTANT.get("start", source.find(old))
        if start < 0 or source[start : start + len(old)] != old:
            os._exit(99)  # the text is gone: the suite must be kept up with the code
        changed = (
            source.replace(old, new) if "start" not in MUTANT else source[:start] + new + source[start + len(old) :]
        )
        return compile(changed, self.path, "exec")


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname != MUTANT["module"]:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        spec.loader = Loader(fullname, spec.origin)
        return spec


if MUTANT:
    sys.meta_path.insert(0, Finder())
