"""Runs a piece of Python in a folder of its own and tells what became of it. Only ever inside the sandbox."""

import ast
import base64
import json
import os
import stat
import traceback

from unified_tools import answers, pictures
from unified_tools.session_state import SessionState

_NAME = "<code>"
_MOST_FILES = 32
_MOST_FILE_BYTES = 1 << 20
_MOST_LEVELS = 32
_MOST_REPR = 4000
_MOST_PACKAGES = 100
# What libraries keep for themselves.
_NOT_ITS_OWN = {".cache", ".config"}


def run(body, max_bytes):
    folder = _own_folder()
    given = {name: _bytes_of(said) for name, said in body["arguments"].get("files", {}).items()}
    for name, content in given.items():
        _write(folder, name, content)
    state = SessionState()
    restored = body.get("state") is not None and _restored(state, body["state"])
    result, error = _run(body["arguments"]["code"], state)
    pictures.save_figures()
    # Its whole path cannot be walked everywhere; then it is found only by code that has stayed in it.
    written = _files(folder if os.access(folder, os.R_OK) else ".", given)
    data = {"result": result, "error": error, **written}
    if "state" in body:
        text, left_out = state.save(max_bytes // 4)
        data.update(state=text, state_restored=restored, state_left_out=left_out)
    return answers.success(data, "the code", max_bytes)


def _restored(state, text):
    try:
        return state.restore(text)
    except Exception:
        return False


def _own_folder():
    """In the sandbox's own memory; where it has none of that, beneath the folder that the worker was started in."""
    above = "/tmp" if os.path.ismount("/tmp") else "."
    folder = os.path.join(above, f"code-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    os.chdir(folder)
    folder = os.getcwd()
    home = folder if os.access(folder, os.W_OK | os.X_OK) else "."
    os.environ.update(HOME=home, TMPDIR=home)
    pictures.prepare(home)
    return folder


def _run(code, state):
    """The value of the last expression, and the error that ended the code."""
    scope = state.scope
    try:
        tree = ast.parse(code, _NAME)
        state.define(tree)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, _NAME, "exec"), scope)
        if last is None:
            return None, None
        return _shown(eval(compile(ast.Expression(last.value), _NAME, "eval"), scope)), None
    except SystemExit as exit:
        return None, None if exit.code in (None, 0) else f"SystemExit: {answers.text_of(exit)[:_MOST_REPR]}"
    except BaseException as error:
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        traceback.print_exception(type(error), error, trace, limit=-30)
        return None, f"{type(error).__name__}: {answers.text_of(error)}{_packages_beside(error)}"[:_MOST_REPR]


def _packages_beside(error):
    """Of a module that is not there: what there is instead."""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    try:
        from importlib import metadata

        names = sorted({found.metadata["Name"] for found in metadata.distributions()})[:_MOST_PACKAGES]
    except Exception:
        return ""
    return f" (packages besides the standard library: {', '.join(names) or 'none'})"


def _shown(value):
    """The value itself where JSON can hold it as it is, otherwise what Python shows of it."""
    try:
        if json.loads(answers.encoded(value, _NAME, _MOST_FILE_BYTES)) == value:
            return value
    except answers.NotSendable:
        pass
    try:
        return repr(value)[:_MOST_REPR]
    except Exception as error:  # too large or too deep to be shown; that is no error of the code
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"[:_MOST_REPR]


def _write(folder, name, content):
    """`name` was checked by the gateway: a relative path without `..`; `content` is bytes."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def _bytes_of(said):
    """Text, or an object with base64 that the gateway has looked at."""
    return said.encode("utf-8", "replace") if isinstance(said, str) else base64.b64decode(said["base64"])


def _files(folder, given):
    """What the code wrote or changed: regular files only, the first few, up to a size in all. Pictures are apart."""
    files, images, left_out, room = {}, [], 0, _MOST_FILE_BYTES
    for path in _regular_files(folder):
        name = os.path.relpath(path, folder)
        content = _content(path, room) if len(files) + len(images) < _MOST_FILES else None
        if content is None or not name.isprintable():
            left_out += 1
            continue
        if content == given.get(name):
            continue
        picture = pictures.as_picture(name, content)
        if picture is None:
            files[name] = _as_text(content)
        else:
            images.append(picture)
        room -= len(content)
    return {"files": files, "images": images, "files_left_out": left_out}


def _regular_files(folder):
    """With folders that are too deep, which nobody can read as a file: so they count as left out."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if place != folder or name not in _NOT_ITS_OWN)
        if place.count(os.sep) - folder.count(os.sep) >= _MOST_LEVELS:
            yield from (os.path.join(place, name) for name in folders)
            folders.clear()
        for name in sorted(names):
            path = os.path.join(place, name)
            if _is_regular(path):
                yield path


def _is_regular(path):
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _content(path, most):
    """None: it is too large, or the code has shut it to itself."""
    try:
        with open(path, "rb") as file:
            content = file.read(most + 1)
    except OSError:
        return None
    return None if len(content) > most else content


def _as_text(content):
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}
