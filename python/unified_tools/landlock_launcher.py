"""Starts one program behind Landlock, seccomp and resource limits, where no namespaces can be made. Stdlib only.

Its one argument is the number of a descriptor with the orders, JSON. Its child becomes the program, in a process group
that nothing of the program can leave. It stays beside it, unconfined and out of reach: when the program ends, or the
gateway does, it ends the whole group and reaps it, also where process 1 reaps nobody. Then it ends with the same code.
"""

import base64
import ctypes
import json
import os
import resource
import signal
import struct
import sys

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
SECCOMP_MODE_FILTER = 2
CREATE_RULESET_VERSION = 1
RULE_PATH_BENEATH = 1
#: The same numbers on every machine that the gateway knows.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
#: Before it, a file outside could be cut to nothing.
OLDEST_ABI = 3
#: From it on, signals can be kept to a program's own processes.
ABI_WITH_SCOPES = 6

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

libc = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def syscall(what, *arguments):
    return checked(libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]), what)


def prctl(what, option, *arguments):
    padded = (list(arguments) + [0, 0, 0, 0])[:4]
    checked(libc.prctl(option, *[ctypes.c_ulong(a) if isinstance(a, int) else a for a in padded]), what)


def rights_of(abi):
    """Every right to files that this kernel can withhold."""
    return (1 << {3: 15, 4: 15}.get(abi, 16)) - 1


def restrict_files(orders):
    abi = syscall("landlock", CREATE_RULESET, None, 0, CREATE_RULESET_VERSION)
    if abi < OLDEST_ABI:
        raise OSError(f"landlock of this kernel is version {abi}; {OLDEST_ABI} or newer is needed")
    rights = rights_of(abi)
    # Connecting and listening need a socket, which seccomp refuses; a program with a network may use all of it.
    scopes = 3 if abi >= ABI_WITH_SCOPES else 0
    attributes = struct.pack("QQQ", rights, 0, scopes)[: 24 if abi >= ABI_WITH_SCOPES else 8]
    ruleset = syscall("landlock", CREATE_RULESET, attributes, len(attributes), 0)

    def allow(fd, allowed):
        if not os.path.isdir(f"/proc/self/fd/{fd}"):
            allowed &= OF_FILES
        rule = struct.pack("=Qi", allowed & rights, fd)
        syscall("landlock", ADD_RULE, ruleset, RULE_PATH_BENEATH, rule, 0)

    def allow_path(path, allowed, flags=0):
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC | flags)
        allow(fd, allowed)
        os.close(fd)

    for path in orders["readable"]:
        allow_path(path, READ)
    for path in orders["writable"]:
        allow_path(path, rights & ~IOCTL_DEV, os.O_NOFOLLOW)
    if orders["workspace_fd"] is not None:
        allow(orders["workspace_fd"], rights & ~IOCTL_DEV)
    return ruleset, "seccomp_where_signals_stay" if abi >= ABI_WITH_SCOPES else "seccomp"


def limit_resources(orders):
    for name, (soft, hard) in orders["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name.upper()}"), (soft, hard))
    # Counted for the user on the whole machine: what runs already must not use it up.
    # A program that forks for others may raise its own limit, so that what its neighbours start takes no call from it.
    soft = processes_of_this_user() + orders["max_processes"]
    most = soft + orders["process_headroom"]
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if hard != resource.RLIM_INFINITY:
        soft, most = min(soft, hard), min(most, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (soft, most))


def processes_of_this_user():
    threads = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{name}").st_uid == os.getuid():
                threads += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return threads


def filter_calls(program):
    records = ctypes.create_string_buffer(program)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("records", ctypes.c_void_p)]

    described = Program(len(program) // 8, ctypes.addressof(records))
    prctl("seccomp", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(described))


def wait_at_gate(orders):
    os.write(orders["status_fd"], b'{ "child-pid": %d }\n' % os.getpid())
    if os.read(orders["gate_fd"], 1) == b"":
        sys.exit(125)


def find_program(name, path):
    """Before the walls: afterwards a program that is not there and one that may not be seen look alike."""
    if "/" in name:
        return name
    for folder in path.split(":"):
        place = os.path.join(folder, name)
        if os.access(place, os.X_OK):
            return place
    raise OSError(f"there is no program {name}")


def use_as_home(orders):
    """Its own path says where it is only where its user may walk there: else it is found by programs that stay in it."""
    place = os.getcwd()
    if not os.access(place, os.W_OK | os.X_OK):
        place = "."
    if "TMPDIR" not in orders["env"]:
        orders["env"].update(HOME=place, TMPDIR=place)


def close_all_but(keep):
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd in keep:
            os.set_inheritable(fd, True)
        else:
            try:
                os.set_inheritable(fd, False)
            except OSError:
                continue


def end_group(leader):
    """The leader alone as well: it may not lead a group yet."""
    for kill in (os.kill, os.killpg):
        try:
            kill(leader, signal.SIGKILL)
        except ProcessLookupError:
            continue


def stay_beside(program, gateway, status_fd):
    """Never returns. The program counts as ended once nothing of it is left."""
    signal.signal(signal.SIGTERM, lambda *_: end_group(program))
    prctl("death signal", PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != gateway:
        end_group(program)
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd != status_fd:
            close_quietly(fd)
    while True:
        # Looked at and not reaped: until its group is ended, its number must stay its own.
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        if ended.si_pid == program:
            break
        os.waitpid(ended.si_pid, 0)
    end_group(program)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    code = ended.si_status if ended.si_code == os.CLD_EXITED else 128 + ended.si_status
    os.write(status_fd, b'{ "exit-code": %d }\n' % code)
    os._exit(code)


def close_quietly(fd):
    try:
        os.close(fd)
    except OSError:
        pass


def become_program(orders, launcher):
    """Returns only by an error."""
    prctl("death signal", PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != launcher:
        sys.exit(125)
    os.setpgid(0, 0)
    wait_at_gate(orders)
    program = find_program(orders["argv"][0], orders["env"].get("PATH", "/usr/bin:/bin"))
    ruleset, filter_name = restrict_files(orders)
    if orders["cwd"] is None:
        os.fchdir(orders["workspace_fd"])
        use_as_home(orders)
    else:
        os.chdir(orders["cwd"])
    close_all_but(set(orders["keep_fds"]))
    limit_resources(orders)
    prctl("no new privileges", PR_SET_NO_NEW_PRIVS, 1)
    syscall("landlock", RESTRICT_SELF, ruleset, 0)
    filter_calls(base64.b64decode(orders[filter_name]))
    os.write(orders["status_fd"], b'{ "ready": 1 }\n')
    os.execve(program, orders["argv"], orders["env"])


def main():
    gateway, launcher = os.getppid(), os.getpid()
    with os.fdopen(int(sys.argv[1]), "rb") as file:
        orders = json.load(file)
    prctl("subreaper", PR_SET_CHILD_SUBREAPER, 1)
    program = os.fork()
    if program != 0:
        stay_beside(program, gateway, orders["status_fd"])
    become_program(orders, launcher)


try:
    main()
except (OSError, ValueError) as error:
    print(f"landlock_launcher: {error}", file=sys.stderr, flush=True)
    os._exit(125)
