"""The sandbox's own writable folders, emptied between calls. Only ever used where they belong to the sandbox alone."""

import os

_FOLDERS = ("/tmp", "/dev/shm", "/workspace")
_MOST_ENTRIES = 1024


class OwnMounts:
    """Of a mount namespace."""

    def clean(self):
        """True when nothing is left; False when there was too much to look through or something would not go."""
        return all(_clean(folder) for folder in _FOLDERS if os.path.ismount(folder))


class StartFolder:
    """Without mounts: the folder in which the worker was started, whatever tools make of the working directory."""

    def __init__(self):
        self._fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY)

    def clean(self):
        os.fchdir(self._fd)
        return _clean(".")


def _clean(folder):
    try:
        _empty(folder, os.lstat(folder).st_dev, [_MOST_ENTRIES])
    except (OSError, RecursionError, _TooMuch):
        return False
    return True


class _TooMuch(Exception):
    pass


def _empty(folder, device, left):
    """Tells whether something had to stay: folders of the host that are mounted below are not the sandbox's to empty."""
    with os.scandir(folder) as entries:
        found = [entry for _, entry in zip(range(left[0] + 1), entries)]
    left[0] -= len(found)
    if left[0] < 0:
        raise _TooMuch
    stays = False
    for entry in found:
        if entry.stat(follow_symlinks=False).st_dev != device:
            stays = True
        elif not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
        elif _empty(entry.path, device, left):
            stays = True
        else:
            os.rmdir(entry.path)
    return stays
