"""The sandbox's own writable folders, emptied between calls. Only ever used where they belong to the sandbox alone."""

import os
import shutil

_FOLDERS = ("/tmp", "/dev/shm", "/workspace")
_MOST_ENTRIES = 256


def clean():
    """True when nothing is left; False when there was too much to look through or something would not go."""
    return all(_clean(folder) for folder in _FOLDERS if os.path.ismount(folder))


def _clean(folder):
    try:
        with os.scandir(folder) as entries:
            found = [entry for _, entry in zip(range(_MOST_ENTRIES + 1), entries)]
        if len(found) > _MOST_ENTRIES:
            return False
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
    except (OSError, RecursionError):
        return False
    return True
