"""Finds the tools' modules by their exact names: inside the sandbox, the folders that they lie in cannot be listed."""

import importlib.util
import os
import sys
from importlib.machinery import BYTECODE_SUFFIXES, EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ModuleSpec

# In the order in which Python itself prefers them.
_SUFFIXES = (*EXTENSION_SUFFIXES, *SOURCE_SUFFIXES, *BYTECODE_SUFFIXES)


class FolderFinder:
    """After Python's own finders, so that nothing takes the place of what they find."""

    def __init__(self, folders):
        self._folders = tuple(folders)

    def find_spec(self, name, path=None, target=None):
        tail = name.rpartition(".")[2]
        namespace = []
        for folder in self._folders if path is None else path:
            place = os.path.join(folder, tail)
            spec = _package(name, place) or _module(name, place)
            if spec is not None:
                return spec
            if os.path.isdir(place):
                namespace.append(place)
        if not namespace:
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = namespace
        return spec


def add_folders(folders):
    """Makes the modules of these folders importable, behind everything that is importable already."""
    sys.path.extend(folder for folder in folders if folder not in sys.path)
    sys.meta_path.append(FolderFinder(folders))


def _package(name, place):
    for suffix in _SUFFIXES:
        file = os.path.join(place, "__init__" + suffix)
        if _can_be_read(file):
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=[place])
    return None


def _module(name, place):
    for suffix in _SUFFIXES:
        if _can_be_read(place + suffix):
            return importlib.util.spec_from_file_location(name, place + suffix)
    return None


def _can_be_read(file):
    """Inside the sandbox, a file that is not shown may still be known to be there."""
    try:
        os.close(os.open(file, os.O_RDONLY))
    except OSError:
        return False
    return os.path.isfile(file)
