// `npm run build`: compiles src into dist, writes the types that plugins are written with, and puts the program into a few files,
// unless that is done already. Sources count by their content, and what was built by its names and sizes: a tree may be copied.
// Arguments go to the compiler. With --before-start, where there is no compiler or no source, what was built is started as it is.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const BUILT = join(DIST, 'built.json');
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
/** What a build depends on besides src. The lockfile stands for the packages that go into the bundle. */
const FILES = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.plugin.json',
  'scripts/build.js',
  'scripts/bundle.js',
];

const isBeforeStart = process.argv.includes('--before-start');
const args = process.argv.slice(2).filter((arg) => arg !== '--before-start');

if (isBeforeStart && !canBuild()) {
  if (!existsSync(join(DIST, 'bundle/main.js')))
    fail('there is no build here: run `npm ci && npm run build`');
} else {
  const sources = hashOfSources();
  if (!isBuilt(sources)) await build(sources);
}

function canBuild() {
  return existsSync(join(ROOT, 'src')) && existsSync(COMPILER);
}

async function build(sources) {
  if (!existsSync(COMPILER)) fail('there is no compiler here: run `npm ci` first');
  // A build that is broken off is none.
  rmSync(BUILT, { force: true });
  compile('tsconfig.build.json', ...args);
  // The types of plugins, which the package exports; what they say was checked above.
  compile('tsconfig.plugin.json');
  await import('./bundle.js');
  writeFileSync(BUILT, JSON.stringify({ sources, args, outputs: hashOfOutputs() }));
}

function compile(project, ...more) {
  const compiler = [COMPILER, '-p', project, ...more];
  const { status } = spawnSync(process.execPath, compiler, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** One that was compiled with other arguments (--noCheck) is another build. */
function isBuilt(sources) {
  const built = read(BUILT);
  return (
    built?.sources === sources &&
    JSON.stringify(built.args) === JSON.stringify(args) &&
    built.outputs === hashOfOutputs()
  );
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function hashOfSources() {
  const src = filesIn(join(ROOT, 'src')).filter((file) => !file.endsWith('.spec.ts'));
  const all = [...src, ...FILES.map((file) => join(ROOT, file))].filter((file) => existsSync(file));
  const hash = createHash('sha256');
  for (const file of all)
    hash
      .update(`${file.slice(ROOT.length)}\0`)
      .update(readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

/** Node's compile cache lies in there, too, and is nobody's output. */
function hashOfOutputs() {
  const own = filesIn(DIST).filter((file) => file !== BUILT && !file.includes('.compile-cache'));
  const lines = own.map((file) => `${file.slice(DIST.length)} ${statSync(file).size}`);
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
