// Attacks by system call, as the beginning of a Python script: `call(name, …)` gives its result or the error's name.
import { machineOf } from '../../src/infra/sandbox/seccomp/syscalls.ts';

const NUMBERS = machineOf(process.arch)?.numbers ?? {};

export const SYSCALL_PRELUDE = `
import ctypes, errno, json, os, sys
libc = ctypes.CDLL(None, use_errno=True)
numbers = json.loads('${JSON.stringify(NUMBERS)}')
def call(name, *args):
    number = name if isinstance(name, int) else numbers[name]
    args = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    result = libc.syscall(ctypes.c_long(number), *args)
    return result if result >= 0 else errno.errorcode[ctypes.get_errno()]
def tried(action):
    try:
        return action()
    except OSError as error:
        return errno.errorcode[error.errno]
def write(path):
    with open(path, "w") as file:
        file.write("x")
    return "written"
`;
