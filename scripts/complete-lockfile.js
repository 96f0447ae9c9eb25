// Adds to package-lock.json the optional packages of other platforms that a registry mirror did not serve.
// Without their entries `npm ci` refuses the lockfile, though it would never install them here. Run after `npm install`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8'));
const OS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const CPU = { aarch64: 'arm64', armv7: 'arm' };

let added = 0;
for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const words = name.split(/[/-]/);
    const os = OS.find((known) => words.includes(known));
    const key = `node_modules/${name}`;
    if (os === undefined || key in lock.packages || !/^\d/.test(version)) continue;
    const cpu = words[words.indexOf(os) + 1];
    lock.packages[key] = {
      version,
      ...(cpu !== undefined && { cpu: [CPU[cpu] ?? cpu] }),
      ...(entry.dev && { dev: true }),
      optional: true,
      os: [os],
    };
    added += 1;
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added} added\n`);
