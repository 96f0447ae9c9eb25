// What the log of the running program has of exceptions of tools with rules for results: no more than an answer may say.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { eventually } from '../helpers/eventually.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { request, type RestTarget } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const HANDLERS = `
export function exception() { throw new Error('cause: bob@example.com'); }
export function text() { throw 'bob@example.com'; }
export function nested() { throw new Error('outer', { cause: new Error('bob@example.com') }); }
export function typed() {
  throw Object.assign(new Error('nothing to see'), { type: 'TRANSIENT', cause: new Error('bob@example.com') });
}
export function unguarded() { throw new Error('of a tool without rules: bob@example.com'); }
`;
const PYTHON = `
def raises():
    try:
        raise ValueError("bob@example.com")
    except ValueError as error:
        raise RuntimeError("outer") from error
`;
const IN_THREADS = ['exception', 'text'];
/** Causes of exceptions do not leave worker threads. */
const IN_PROCESS = [...IN_THREADS, 'nested', 'typed'];
const withRule = (action: string) => ({
  'result-guard': { rules: [{ detect: 'email', action }] },
});

const toolOf = (name: string, action: string, implementation: object) => ({
  name,
  description: 'Throws',
  tool_type: 'handler' in implementation ? 'javascript' : 'python',
  input_schema: { type: 'object', properties: {}, additionalProperties: false },
  implementation_config: implementation,
  ...(action !== '' && { extensions: withRule(action) }),
});
const handlerOf = (name: string) => ({ handler: './throwing.js', export: name });
const GUARDED = ['mask', 'refuse'].flatMap((action) => [
  ...IN_THREADS.map((name) => toolOf(`${name}_${action}_thread`, action, handlerOf(name))),
  ...IN_PROCESS.map((name) => toolOf(`${name}_${action}`, action, { ...handlerOf(name), trusted: true })),
  toolOf(`raises_${action}`, action, { module: 'throwing', function_name: 'raises' }),
]);

let dir: string;
let gateway: GatewayProcess;
let target: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  const key = createApiKey();
  mkdirSync(join(dir, 'python'));
  writeFileSync(join(dir, 'throwing.js'), HANDLERS);
  writeFileSync(join(dir, 'python', 'throwing.py'), PYTHON);
  const unguarded = toolOf('unguarded', '', { ...handlerOf('unguarded'), trusted: true });
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: [...GUARDED, unguarded] }));
  const stored = {
    id: key.id,
    secret_sha256: key.secretHash.toString('hex'),
    tenant: 'acme',
    roles: ['admin'],
  };
  const env = configured(dir, {
    auth: { keys: [stored] },
    loaders: [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }],
    executors: { python: { module_paths: [join(dir, 'python')] } },
  });
  gateway = new GatewayProcess(dir, env);
  target = { url: (await gateway.ready()).rest, key: key.text };
});

afterAll(async () => {
  await gateway?.end();
  removeDir(dir);
});

/** The line about the call, once it is written. */
async function lineOf(tool: string): Promise<string> {
  await request(target, 'POST', `/v1/tools/${tool}/execute`, { arguments: {} });
  return eventually(() => {
    const line = gateway.stdout
      .split('\n')
      .find((each) => each.includes(`"tool":"${tool}"`) && each.includes('refused or failed'));
    if (line === undefined) throw new Error(`there is no line about ${tool} yet`);
    return line;
  });
}

describe('the log of a tool with rules for results', () => {
  it.each(GUARDED.map(({ name }) => name))('has no text that a rule finds: %s', async (name) => {
    const line = await lineOf(name);
    expect(line).toContain(name.includes('refuse') ? '[left out: ' : '[email]');
    expect(line).not.toContain('bob@');
  });

  it('has no such text anywhere, and a tool without rules tells its operator all', async () => {
    const line = await lineOf('unguarded');
    expect(line).toContain('bob@example.com');
    expect(gateway.stdout.replace(line, '') + gateway.stderr).not.toContain('bob@');
  });
});
