"""Prints the declarations of the tools in named modules, for the gateway's loader `python-module`.

Started as `python3 -I -B describe.py '{"modules": [...], "paths": [...]}'`. The report goes to descriptor 4, one line of
JSON for each step; what the modules print goes where it always goes and is nobody's report. A line
`{"importing": name}` comes before each module, so that one which ends the process is known by name.
"""

import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback


def _load_own_package():
    """By its place: inside the sandbox, the folder above it cannot be listed, and nothing may stand in for it."""
    here = os.path.dirname(os.path.abspath(__file__))
    file = os.path.join(here, "__init__.py")
    spec = importlib.util.spec_from_file_location("unified_tools", file, submodule_search_locations=[here])
    package = sys.modules["unified_tools"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


_load_own_package()
from unified_tools.module_finder import add_folders  # noqa: E402
from unified_tools.tool import MARK, ToolDefinitionError, tool_spec  # noqa: E402

_LONGEST = 2000


class Report:
    """Lines for the gateway, on a descriptor of its own that no child process inherits."""

    def __init__(self, descriptor):
        self._descriptor = os.dup(descriptor)
        os.close(descriptor)

    def line(self, value):
        content = (json.dumps(value, allow_nan=False) + "\n").encode("ascii")
        while content:
            content = content[os.write(self._descriptor, content) :]


def main():
    request = json.loads(sys.argv[1])
    report = Report(4)
    paths = [os.path.realpath(path) for path in request["paths"]]
    add_folders(paths)
    for name in request["modules"]:
        report.line({"importing": name})
        report.line(_described(name, paths))
    report.line({"done": True})
    # Not sys.exit: threads and exit handlers of the modules do not hold the end up.
    sys.stdout.flush()
    os._exit(0)


def _described(name, paths):
    try:
        folder = _folder_of(name, paths)
        module = importlib.import_module(name)
    except BaseException as error:  # a module may also end in SystemExit
        return {"module": name, "tools": [], "problems": [_import_problem(name, error, paths)]}
    tools, problems = [], []
    for attribute, value in list(vars(module).items()):
        marked = getattr(value, MARK, None) if inspect.isroutine(value) else None
        if marked is not None and marked[0].__module__ == name:
            _describe(attribute, value, folder, tools, problems)
    if not tools and not problems:
        problems.append({"message": f"the module {name} has no function marked with @tool", **_file_of(module)})
    return {"module": name, "tools": tools, "problems": problems}


def _describe(attribute, function, folder, tools, problems):
    place = _place_of(function)
    try:
        if function.__name__ != attribute:
            message = f"the function {function.__name__} is called {attribute!r} in its module: give it one name"
            raise ToolDefinitionError(message)
        if attribute.startswith("_"):
            raise ToolDefinitionError("the name of a tool's function must not start with _")
        spec = tool_spec(function)
        json.dumps(spec, allow_nan=False)
        tools.append({"spec": spec, "folder": folder, **place})
    except Exception as error:
        what = str(error) if isinstance(error, ToolDefinitionError) else f"{type(error).__name__}: {error}"
        problems.append({"message": f"the tool {attribute}: {_shortened(what)}", **place})


def _folder_of(name, paths):
    """Of the paths, the one where the module lies. Python's own and installed modules are no tools."""
    top = name.split(".", 1)[0]
    spec = importlib.util.find_spec(top)
    if spec is None:
        raise ToolDefinitionError(f"there is no module {name} in {', '.join(paths)}")
    places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
    for place in places:
        real = os.path.realpath(place)
        for path in paths:
            if real.startswith(os.path.join(path, "")):
                return path
    raise ToolDefinitionError(
        f"the name {name} belongs to {places[0] if places else 'another module'}, which is not in {', '.join(paths)}"
    )


def _import_problem(name, error, paths):
    if isinstance(error, ToolDefinitionError):
        return {"message": str(error)}
    message = f"importing the module {name} failed: {type(error).__name__}: {_shortened(_text_of(error))}"
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return {"message": message, "file": os.path.realpath(error.filename), "line": error.lineno}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = os.path.realpath(frame.filename)
        if any(file.startswith(os.path.join(path, "")) for path in paths):
            return {"message": message, "file": file, "line": frame.lineno}
    return {"message": message}


def _place_of(function):
    original = getattr(function, MARK)[0]
    code = getattr(original, "__code__", None)
    return {"file": os.path.realpath(code.co_filename), "line": code.co_firstlineno} if code else {}


def _file_of(module):
    file = getattr(module, "__file__", None)
    return {"file": os.path.realpath(file), "line": 1} if file else {}


def _text_of(error):
    try:
        return str(error)
    except BaseException:
        return "(its text cannot be read)"


def _shortened(text):
    return text[:_LONGEST]


if __name__ == "__main__":
    main()
