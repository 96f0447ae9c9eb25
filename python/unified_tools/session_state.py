"""What stays of one run for the next one of its session: imports and definitions as text, variables as pickles.

Read and written where the code itself runs, and nowhere else: a pickle is code.
"""

import ast
import base64
import pickle
import sys
import types

_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MOST_BYTES = 1 << 20
_MOST_DEFINITIONS = 500
_MOST_NAMES = 50


class SessionState:
    def __init__(self):
        # Pickle looks for the code's own classes where they say that they are.
        self.module = types.ModuleType("__main__")
        sys.modules["__main__"] = self.module
        self.scope = self.module.__dict__
        self._definitions = {}

    def restore(self, text):
        """Whether all of it is there again. What cannot be had again is left out."""
        saved = pickle.loads(base64.b64decode(text))
        whole = True
        for key, source in saved["definitions"].items():
            whole = self._try(lambda: exec(compile(source, "<earlier code>", "exec"), self.scope)) and whole
            self._definitions[key] = source
        for name, pickled in saved["values"].items():
            whole = self._try(lambda: self.scope.__setitem__(name, pickle.loads(pickled))) and whole
        return whole

    def define(self, tree):
        """Before the tree runs: what it defines and imports at its top."""
        for node in tree.body:
            if isinstance(node, _DEFINITIONS):
                source = ast.unparse(node)
                key = getattr(node, "name", source)
                self._definitions.pop(key, None)
                self._definitions[key] = source

    def save(self, max_bytes):
        """The state as text, and the names of what could not be kept."""
        values, left_out, room = {}, [], min(_MOST_BYTES, max_bytes)
        definitions = dict(list(self._definitions.items())[-_MOST_DEFINITIONS:])
        room -= sum(len(source) for source in definitions.values())
        for name, value in list(self.scope.items()):
            if name.startswith("__") or isinstance(value, types.ModuleType) or self._is_defined(name, value):
                continue
            pickled = _pickled(value)
            if pickled is None or len(pickled) > room:
                left_out.append(name)
                continue
            values[name] = pickled
            room -= len(pickled)
        if room < 0:
            return None, sorted(values)[:_MOST_NAMES]
        saved = pickle.dumps({"definitions": definitions, "values": values})
        return base64.b64encode(saved).decode("ascii"), left_out[:_MOST_NAMES]

    def _is_defined(self, name, value):
        # A name that was bound to something else since is a value.
        return isinstance(value, (type, types.FunctionType)) and (
            name in self._definitions or getattr(value, "__module__", None) != "__main__"
        )

    @staticmethod
    def _try(step):
        try:
            step()
            return True
        except Exception:
            return False


def _pickled(value):
    try:
        return pickle.dumps(value)
    except Exception:  # objects of the code take part in this
        return None
