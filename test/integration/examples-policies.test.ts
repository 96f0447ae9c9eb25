// examples/policies: what its README shows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { run } from '../../src/cli/run.ts';

const FOLDER = 'examples/policies';
let gateway: RunningGateway;

beforeAll(async () => {
  const { extensions } = parse(readFileSync(`${FOLDER}/gateway.yaml`, 'utf8')) as { extensions: unknown };
  gateway = await startGateway({ tools: [`${FOLDER}/tools.yaml`], settings: { extensions } });
});

afterAll(() => gateway?.stop());

async function call(tool: string, args: object, mode: 'voice' | 'text' = 'text') {
  const body = { arguments: args, context: { mode } };
  return (await request<object>(targetOf(gateway, 'agent'), 'POST', `/v1/tools/${tool}/execute`, body)).body;
}

async function ute(argv: readonly string[]) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const code = await run(argv, {
    stdout: (text) => stdout.push(text),
    stderr: (text) => stderr.push(text),
    readStdin: async () => '',
    fetch,
    env: {},
    cwd: process.cwd(),
  });
  return { code, stdout: stdout.join(''), stderr: stderr.join('') };
}

const refusedBy = (rule: string) => ({ error: { reason: 'POLICY_DENIED', details: { rule } } });

describe('the policies example', () => {
  it('transfers to own accounts, asks a human about larger sums by voice, and refuses the rest', async () => {
    const own = { to: 'own-7', amount: 101 };
    expect(await call('transfer', own)).toMatchObject({ ok: true, data: { transferred: 101 } });
    expect(await call('transfer', own, 'voice')).toMatchObject({ error: { reason: 'APPROVAL_REQUIRED' } });
    expect(await call('transfer', { to: 'acct-7', amount: 101 })).toMatchObject(refusedBy('known-purpose'));
    expect(await call('transfer', { to: 'acct-7', amount: 101, purpose: 'rent' })).toMatchObject({
      ok: true,
    });
    expect(await call('transfer', { to: 'own-7', amount: 5001 })).toMatchObject(
      refusedBy('no-large-transfers'),
    );
  });

  it('decides about its cases as they say, and tells which of them it does not', async () => {
    const test = (file: string) => ute(['policy', 'test', file, '--config', `${FOLDER}/gateway.yaml`]);
    expect(await test(`${FOLDER}/cases.yaml`)).toEqual({
      code: 0,
      stdout: '6 of 6 cases are decided as they say\n',
      stderr: '',
    });
    const dir = tempDir();
    onTestFinished(() => removeDir(dir));
    const wrong = join(dir, 'wrong.yaml');
    writeFileSync(
      wrong,
      'cases:\n  - name: by voice\n    tool: transfer\n    arguments: { to: own-7, amount: 101 }\n' +
        '    context: { mode: voice }\n    expect: allow\n',
    );
    const told = await test(wrong);
    expect([told.code, told.stdout]).toEqual([
      1,
      expect.stringMatching(/by voice +allow +require_approval \(voice-limit\)[^]*0 of 1 cases/),
    ]);
    writeFileSync(wrong, 'cases:\n  - name: a\n    tol: transfer\n    tool: x\n    expect: maybe\n');
    const { stderr } = await test(wrong);
    expect(stderr).toContain('wrong.yaml:3:5');
    expect(stderr).toContain('did you mean "tool"?');
    expect(stderr).toContain('wrong.yaml:5:5');
  });

  it('keeps notes inside, by a rule of the tool’s own', async () => {
    const outside = { to: ['a@bank.example', 'b@else.example'] };
    expect(await call('send_note', outside)).toMatchObject(refusedBy('inside-only'));
    expect(await call('send_note', { to: ['a@bank.example'] })).toMatchObject({
      ok: true,
      data: { sent: 1 },
    });
  });
});
