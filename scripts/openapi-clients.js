// `npm run test:openapi`: docs/reference/openapi.json as it is goes through openapi-typescript, openapi-python-client and
// datamodel-codegen, and what they make of it is compiled and used. They are installed beside node_modules at first, in the versions of
// test/openapi-clients. A warning of a generator is a failure: it leaves out what it does not understand.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { installPinned } from '../test/helpers/pinned-installation.ts';

const ROOT = join(import.meta.dirname, '..');
const GIVEN = join(ROOT, 'test/openapi-clients');
const DOCUMENT = join(ROOT, 'docs/reference/openapi.json');
const DONE_WITHIN_MS = 180_000;

function run(what, program, args, { cwd, env = {} }) {
  const { status, error, signal } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: DONE_WITHIN_MS,
  });
  if (status !== 0) throw new Error(`${what}: ${error?.message ?? `ended with ${status ?? signal}`}`);
}

function typescript(dir, out) {
  const at = { cwd: out };
  const types = join(out, 'gateway.d.ts');
  run('openapi-typescript', join(dir, 'node_modules/.bin/openapi-typescript'), [DOCUMENT, '-o', types], at);
  copyFileSync(join(GIVEN, 'client.ts.txt'), join(out, 'client.ts'));
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
  const compiler = join(dir, 'node_modules/.bin/tsc');
  run('the client in TypeScript', compiler, [...options, '--allowImportingTsExtensions', 'client.ts'], at);
}

function python(dir, out) {
  const bin = join(dir, 'python/bin');
  const at = {
    cwd: out,
    env: { PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`, PYTHONPATH: `${out}/client` },
  };
  const config = join(GIVEN, 'openapi-python-client.yaml');
  const made = ['--path', DOCUMENT, '--output-path', 'client', '--config', config, '--fail-on-warning'];
  run('openapi-python-client', join(bin, 'openapi-python-client'), ['generate', ...made], at);
  const kind = ['--input-file-type', 'openapi', '--output-model-type', 'pydantic_v2.BaseModel'];
  const models = ['--input', DOCUMENT, '--output', 'client/models.py', '--formatters', 'black', 'isort'];
  run('datamodel-codegen', join(bin, 'datamodel-codegen'), [...kind, ...models], at);
  run('the client in Python', join(bin, 'python'), [join(GIVEN, 'client.py')], at);
}

const out = mkdtempSync(join(tmpdir(), 'ute-openapi-clients-'));
try {
  const dir = installPinned({ name: 'openapi-clients', from: GIVEN });
  typescript(dir, out);
  python(dir, out);
  process.stdout.write('ok: a client in TypeScript, one in Python, and models in Python\n');
} finally {
  rmSync(out, { recursive: true, force: true });
}
