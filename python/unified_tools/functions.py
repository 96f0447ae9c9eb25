"""Finds the functions that tools name: imports the module once, reads the signature once, and only listed modules."""

import importlib
import importlib.util
import inspect
import os
import sys
from importlib.machinery import PathFinder

from unified_tools.module_finder import FolderFinder, add_folders

_KEYWORD_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_CONTEXT = "context"


class NotUsable(Exception):
    """The named function cannot be called. The message is a sentence for the operator."""

    def __init__(self, reason, message):
        super().__init__(message)
        self.reason = reason
        self.message = message


class Function:
    """One function of a tool, with everything about its signature that a call needs to know."""

    __slots__ = ("accepts_any", "call", "is_async", "name", "parameters", "required", "takes_context")

    def __init__(self, name, target):
        self.name = name
        self.call = target
        self.is_async = inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target)
        self.accepts_any = False
        self.takes_context = False
        required = []
        accepted = []
        for parameter in self._signature(target):
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                self.accepts_any = True
            elif parameter.kind in _KEYWORD_KINDS:
                if parameter.name == _CONTEXT:
                    self.takes_context = True
                    continue
                accepted.append(parameter.name)
                if parameter.default is inspect.Parameter.empty:
                    required.append(parameter.name)
            elif parameter.kind is inspect.Parameter.POSITIONAL_ONLY and parameter.default is inspect.Parameter.empty:
                raise NotUsable(
                    "SIGNATURE_UNSUITABLE",
                    f"the parameter `{parameter.name}` of `{name}` is positional-only, but arguments are passed by name",
                )
        self.parameters = frozenset(accepted)
        self.required = tuple(required)

    def _signature(self, target):
        try:
            return inspect.signature(target).parameters.values()
        except ValueError:  # some callables written in C do not tell
            self.accepts_any = True
            return ()

    def mismatch(self, arguments):
        """What is wrong with the argument names, as a sentence, or None."""
        if not self.accepts_any and not arguments.keys() <= self.parameters:
            extra = sorted(arguments.keys() - self.parameters)
            return f"the function {self.name} has no parameter named `{extra[0]}`"
        if self.accepts_any and self.takes_context and _CONTEXT in arguments:
            return f"`{_CONTEXT}` is filled in by the gateway and cannot be given as an argument"
        for name in self.required:
            if name not in arguments:
                return f"the function {self.name} needs an argument named `{name}`"
        return None

    def describe(self):
        return {
            "is_async": self.is_async,
            "takes_context": self.takes_context,
            "accepts_any": self.accepts_any,
            "parameters": sorted(self.parameters),
            "required": list(self.required),
        }


class Functions:
    """The functions used so far, by module and name."""

    def __init__(self, folders, allowed):
        self._folders = folders
        self._roots = tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)
        self._found = {}
        if allowed:
            sys.meta_path.insert(0, _AllowList(allowed, folders))
        add_folders(folders)

    def find(self, module_name, function_name):
        key = (module_name, function_name)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._load(module_name, function_name)
        return found

    def files(self):
        """The files in the tools' folders that have been imported so far."""
        places = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
        return sorted({place for place in places if place and os.path.realpath(place).startswith(self._roots)})

    def _load(self, module_name, function_name):
        self._check_place(module_name)
        try:
            module = importlib.import_module(module_name)
        except BaseException as error:  # a module may also end in SystemExit
            if isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}."):
                raise self._not_found(module_name) from None
            raise NotUsable(
                "IMPORT_FAILED",
                f"importing the Python module `{module_name}` failed: {type(error).__name__}: {error}",
            ) from error
        target = getattr(module, function_name, None)
        if target is None:
            raise NotUsable("FUNCTION_NOT_FOUND", f"the Python module `{module_name}` has no function `{function_name}`")
        if not callable(target):
            raise NotUsable("NOT_CALLABLE", f"`{function_name}` in the Python module `{module_name}` is not a function")
        return Function(function_name, target)

    def _check_place(self, module_name):
        """A tool names code in the operator's folders, never Python's own library or an installed package."""
        importlib.invalidate_caches()
        top = module_name.split(".", 1)[0]
        try:
            spec = importlib.util.find_spec(top)
        except ImportError as error:
            raise NotUsable("MODULE_NOT_ALLOWED", str(error)) from None
        if spec is None:
            raise self._not_found(module_name)
        places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
        for place in places:
            if not os.path.realpath(place).startswith(self._roots):
                raise NotUsable(
                    "MODULE_OUTSIDE",
                    f"the Python module `{module_name}` is not in the tools' folders ({', '.join(self._folders)}): "
                    f"the name belongs to {place}; give the tool's module another name",
                )

    def _not_found(self, module_name):
        return NotUsable("MODULE_NOT_FOUND", f"there is no Python module `{module_name}` in {', '.join(self._folders)}")


class _AllowList:
    """Refuses modules of the tools' folders that the operator did not list. Python's own and installed ones pass."""

    def __init__(self, allowed, folders):
        self._allowed = tuple(allowed)
        self._tools = FolderFinder(folders)
        # As Python found them before the tools' folders were added.
        self._before = list(sys.path)

    def find_spec(self, name, path=None, target=None):
        if self._is_listed(name) or not self._is_a_tools(name):
            return None
        raise ImportError(f"the module `{name}` is not on the list of modules that Python tools may use", name=name)

    def _is_listed(self, name):
        return any(
            name == listed or name.startswith(listed + ".") or listed.startswith(name + ".") for listed in self._allowed
        )

    def _is_a_tools(self, name):
        top = name.split(".", 1)[0]
        if top in sys.builtin_module_names or PathFinder.find_spec(top, self._before) is not None:
            return False
        return self._tools.find_spec(top) is not None
