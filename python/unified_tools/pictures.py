"""What code drew: figures of matplotlib that nobody saved, and which files are pictures that a model can be shown."""

import base64
import os
import struct
import sys
import zlib

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"IEND\xaeB`\x82"
_MOST_BEHIND = 64
_MOST_FIGURES = 8
# Some bytes unfold to gigabytes: what is larger stays a file, which nobody unfolds to show it.
_MOST_PIXELS = 25_000_000


def prepare(home):
    """Before the code runs: matplotlib draws without a screen, and its own files are none of the code's."""
    os.environ.update(MPLBACKEND="Agg", MPLCONFIGDIR=os.path.join(home, ".cache", "matplotlib"))


def save_figures():
    """Those that are open, into the working folder. What cannot be drawn is left out: the code has its answer all the same."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    try:
        for number in pyplot.get_fignums()[:_MOST_FIGURES]:
            name = f"figure-{number}.png"
            if not os.path.lexists(name):
                pyplot.figure(number).savefig(name, format="png")
    except Exception as error:
        print(f"A figure could not be drawn: {type(error).__name__}", file=sys.stderr)


def as_picture(name, content):
    """None: it is none that is to be shown."""
    if len(content) < 33 or not content.startswith(_PNG) or content[12:16] != b"IHDR":
        return None
    # Of one that broke off, or only begins as one, a provider refuses the whole request.
    if zlib.crc32(content[12:29]) != struct.unpack(">I", content[29:33])[0]:
        return None
    if _PNG_END not in content[-len(_PNG_END) - _MOST_BEHIND :]:
        return None
    width, height = struct.unpack(">II", content[16:24])
    if not 0 < width * height <= _MOST_PIXELS:
        return None
    return {
        "name": name,
        "content_type": "image/png",
        "width": width,
        "height": height,
        "size": len(content),
        "base64": base64.b64encode(content).decode("ascii"),
    }
