"""The worker: answers the gateway's requests until the gateway closes the channel.

Started as `python3 -I -B -u worker.py`. Requests come in on descriptor 3 and answers go out on 4. The first
request says how the worker shall work: `fork` runs each call in a process of its own, `reuse` in this one. What
tool code prints goes to 1 and 2 and is a log line at most.
"""

import faulthandler
import importlib.util
import json
import os
import signal
import sys


def _load_own_package():
    """By its place: inside the sandbox, the folder above it cannot be listed, and nothing may stand in for it."""
    here = os.path.dirname(os.path.abspath(__file__))
    file = os.path.join(here, "__init__.py")
    spec = importlib.util.spec_from_file_location("unified_tools", file, submodule_search_locations=[here])
    package = sys.modules["unified_tools"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


_load_own_package()

from unified_tools import answers, process_limits  # noqa: E402  (the package is loaded by the line above)
from unified_tools.channel import ANSWER, Channel, split  # noqa: E402
from unified_tools.functions import Functions  # noqa: E402
from unified_tools.lifeline import end_with_gateway  # noqa: E402
from unified_tools.management import Management  # noqa: E402
from unified_tools.output import flush_output  # noqa: E402
from unified_tools.reuse_worker import ReuseWorker  # noqa: E402
from unified_tools.zygote import Zygote  # noqa: E402

# Whatever the gateway itself was given by who started it is none of the tools' business.
_INHERITED_FDS = 4096


def serve(channel):
    frame = channel.receive()
    if frame is None:
        return
    options = json.loads(split(frame)[0])
    if not _is_watched(options):
        process_limits.keep_memory_private()
    # A request holds the arguments, which may be as large as a result, and a head.
    channel.reader.max_bytes = options["max_frame_bytes"] + (1 << 16)
    functions = Functions(options["folders"], options["modules"])
    kind = ReuseWorker if options["mode"] == "reuse" else Zygote
    worker = kind(channel, Management(functions), options)
    version = ".".join(str(part) for part in sys.version_info[:3])
    unreadable = [place for place in options["places"] if not os.access(place, os.R_OK)]
    greeting = {"python": version, "unreadable": unreadable}
    channel.send(options["id"].encode("ascii"), ANSWER, answers.success(greeting, "hello", 1 << 16))
    worker.serve()


def _is_watched(options):
    """Without a namespace of its own, what it holds of the disk is counted by a gateway that may be the same user. Nobody
    else in the sandbox looks into it either way: the filter refuses tracing, and Landlock /proc."""
    return options["confined"] and os.getpid() != 1


def main():
    os.closerange(5, _INHERITED_FDS)
    channel = Channel(3, 4)
    end_with_gateway(channel.requests)
    process_limits.no_core_files()
    # The first process of a namespace is spared what it does not handle: no call ends it with this.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    faulthandler.enable()
    try:
        serve(channel)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        flush_output()
        os._exit(1)
    # Not sys.exit: threads and exit handlers of tool code do not hold the end up.
    flush_output()
    os._exit(0)


if __name__ == "__main__":
    main()
