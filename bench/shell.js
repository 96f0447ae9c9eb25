// What a command in the sandbox costs beside the same bubblewrap by hand.
import { spawn } from 'node:child_process';
import { openSync, mkdtempSync, rmSync, writeFileSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AF_UNIX, seccompFilter } from '../dist/infra/sandbox/seccomp/seccomp-filter.js';
import { machineOf } from '../dist/infra/sandbox/seccomp/syscalls.js';
import { inProcess } from './children.js';
import { compare, median, number, report } from './measure.js';
import { READ_ONLY, toolsFile } from './tools-file.js';

/** A tools.yaml with the tool `nothing`, a command in the sandbox that does nothing. */
export function nothingTool() {
  return toolsFile({
    tools: [
      {
        name: 'nothing',
        description: 'Does nothing',
        tool_type: 'shell',
        implementation_config: { command: ['true'] },
        metadata: READ_ONLY,
      },
    ],
  });
}

export async function shell() {
  const file = nothingTool();
  const byHand = async () => {
    const times = [];
    for (let i = 0; i < 60; i += 1) times.push(await spawnByHand(['/usr/bin/true']));
    return median(times);
  };
  const ours = async () =>
    (await inProcess({ tools: file.path, tool: 'nothing', args: {}, inFlight: 1, count: 60, warmUp: 20 }))
      .medianUs / 1000;
  const { base, own, ratio } = await compare(byHand, ours, 3);
  file.gone();
  report(
    'shell command in the sandbox',
    `${number(own)} ms`,
    `${number(base)} ms (the same bubblewrap by hand)`,
    `${number(ratio)} ×`,
    '≤ 1.3 ×',
    ratio <= 1.3,
  );
}

/** Milliseconds of one run under the recipe that src/infra/sandbox/bwrap-plan.ts writes. */
function spawnByHand(argv) {
  const dir = mkdtempSync(join(tmpdir(), 'ute-bench-bpf-'));
  writeFileSync(join(dir, 'filter'), FILTER);
  const filter = openSync(join(dir, 'filter'), 'r');
  const startedAt = performance.now();
  const child = spawn('/usr/bin/prlimit', [...LIMITS, '--', '/usr/bin/bwrap', ...RECIPE, ...argv], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'pipe', filter],
    ...(process.getuid() === 0 && { uid: 65534, gid: 65534 }),
  });
  child.stdout.resume();
  child.stderr.resume();
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      closeSync(filter);
      rmSync(dir, { recursive: true });
      if (code === 0) resolve(performance.now() - startedAt);
      else reject(new Error(`bubblewrap by hand ended with ${code}`));
    });
  });
}

const FILTER = seccompFilter(machineOf(process.arch), {
  families: [AF_UNIX],
  hasNamespaces: true,
  countsFiles: false,
  memoryBound: 'cgroup',
});
const words = (text) => text.trim().split(/\s+/);
const LIMITS = words('--as=536870912 --fsize=16777216 --nofile=256 --cpu=5:6 --core=0');
const RECIPE = words(`
  --unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup
  --disable-userns --assert-userns-disabled --uid 65534 --gid 65534 --hostname sandbox
  --die-with-parent --new-session --as-pid-1 --cap-drop ALL --clearenv --setenv PATH /usr/bin:/bin
  --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev
  --perms 1777 --size 1048576 --tmpfs /dev/shm --perms 1777 --size 16777216 --tmpfs /tmp
  --perms 1777 --size 16777216 --tmpfs /workspace
  --remount-ro /proc --remount-ro /dev --remount-ro / --chdir /workspace --seccomp 3 --
  /usr/bin/prlimit --nproc=64 --
`);
