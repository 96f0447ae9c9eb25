// The processes below this one, by what they are: the gateway, its database, and all that it starts beside.
import { readFileSync, readdirSync } from 'node:fs';

const NAMES = [
  ['database', /(^|\/)postgres\b/],
  ['gateway', /dist\/bundle\/main\.js/],
  ['beside', /./],
];

/** Proportional memory (PSS) in MB of all processes below this one: { gateway, database, beside, all }. */
export function memoryMb() {
  const sums = { gateway: 0, database: 0, beside: 0, all: 0 };
  for (const pid of pidsBelow(process.pid)) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      const mb = Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1024;
      const [name] = NAMES.find(([, pattern]) => pattern.test(command)) ?? ['beside'];
      sums[name] += mb;
      sums.all += mb;
    } catch {
      // It has ended meanwhile.
    }
  }
  return sums;
}

function pidsBelow(root) {
  const parents = new Map();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
    } catch {
      // The same.
    }
  }
  const below = (pid) => (parents.get(pid) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(root);
}
