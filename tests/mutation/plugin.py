"""A pytest plugin that plants one bug: a module's source is read with one piece of text replaced.

The bug comes as JSON in the environment variable BAYESRL_MUTANT: module, old, new.
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
        source = self.get_source(fullname)
        if source.count(MUTANT["old"]) < 1:
            os._exit(99)  # the text is gone: the suite must be kept up with the code
        return compile(source.replace(MUTANT["old"], MUTANT["new"]), self.path, "exec")


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname != MUTANT["module"]:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        spec.loader = Loader(fullname, spec.origin)
        return spec


if MUTANT:
    sys.meta_path.insert(0, Finder())
