// A key that is taken out of gateway.yaml stops at both doors: by watching, and at once by a reload. How soon the watching
// sees it, src/infra/keys/keys-of-file.spec.ts shows on a clock of its own.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

interface GatewayFile {
  readonly auth: { readonly keys: readonly { readonly id: string }[] };
}

let gateway: RunningGateway;
let doors: readonly Door[];

beforeAll(async () => {
  gateway = await startGateway({ tools: ['test/fixtures/audit/tools.yaml'] });
  doors = [restDoor(gateway), grpcDoor(gateway)];
});

afterAll(async () => {
  for (const door of doors ?? []) door.close();
  await gateway?.stop();
});

function takeOut(id: string, mistakes: object = {}): void {
  const path = join(gateway.dir, 'gateway.yaml');
  const file = parse(readFileSync(path, 'utf8')) as GatewayFile;
  const keys = file.auth.keys.filter((key) => key.id !== id);
  writeFileSync(path, stringify({ ...file, auth: { ...file.auth, keys }, ...mistakes }));
}

/** What each door says to the key: the type of its refusal, or "let in". */
async function answersTo(key: string): Promise<readonly string[]> {
  const call = { tool: 'no-such-tool', argumentsJson: '{}', key };
  const decisions = await Promise.all(doors.map((door) => door.call(call)));
  return decisions.map(({ type, reason }) => (type === 'AUTH' ? `${reason}` : 'let in'));
}

async function reload(): Promise<number> {
  const headers = { authorization: `Bearer ${gateway.keys.admin.text}` };
  return (await fetch(`${gateway.url}/v1/admin/reload`, { method: 'POST', headers })).status;
}

describe('a key that is taken out of gateway.yaml', () => {
  it('is refused at both doors without anybody asking for it', async () => {
    const { text, id } = gateway.keys.other;
    expect(await answersTo(text)).toEqual(['let in', 'let in']);
    takeOut(id);
    const refused = ['CREDENTIAL_INVALID', 'CREDENTIAL_INVALID'];
    const answers = () => answersTo(text);
    await expect.poll(answers, { timeout: 50_000, interval: 100 }).toEqual(refused);
    expect(await answersTo(gateway.keys.admin.text)).toEqual(['let in', 'let in']);
  });

  it('is refused at once after a reload', async () => {
    const { text, id } = gateway.keys.reader;
    takeOut(id);
    expect(await reload()).toBe(200);
    expect(await answersTo(text)).toEqual(['CREDENTIAL_INVALID', 'CREDENTIAL_INVALID']);
  });

  it('is refused at once after a reload, also where the rest of the file is wrong', async () => {
    const { text, id } = gateway.keys.agent;
    expect(await answersTo(text)).toEqual(['let in', 'let in']);
    takeOut(id, { limits: { max_parallel_calls: 'many' }, loaders: [{ type: 'no-such-loader' }] });
    expect(await reload()).toBe(200);
    expect(await answersTo(text)).toEqual(['CREDENTIAL_INVALID', 'CREDENTIAL_INVALID']);
    expect(await answersTo(gateway.keys.admin.text)).toEqual(['let in', 'let in']);
  });
});

function newKey() {
  const { text, id, secretHash } = createApiKey();
  const stored = { id, secret_sha256: secretHash.toString('hex'), tenant: 'acme', roles: ['agent'] };
  return { text, stored };
}

it.each([
  ['', {}],
  [', also where the rest of the file is wrong', { loaders: [{ type: 'no-such-loader' }], limitz: {} }],
])(
  'a key that is taken out is refused by a process that gets SIGHUP, which goes on with the other keys%s',
  async (_how, mistakes) => {
    const dir = tempDir();
    const [kept, removed] = [newKey(), newKey()];
    const settings = (keys: readonly object[]) => ({
      auth: { keys },
      loaders: [{ type: 'yaml-file', paths: [resolve(import.meta.dirname, '../fixtures/audit/tools.yaml')] }],
    });
    const started = new GatewayProcess(dir, configured(dir, settings([kept.stored, removed.stored])));
    try {
      const { rest } = await started.ready(60_000);
      const statusOf = async (key: string) =>
        (await fetch(`${rest}/v1/tools`, { headers: { authorization: `Bearer ${key}` } })).status;
      expect([await statusOf(kept.text), await statusOf(removed.text)]).toEqual([200, 200]);
      configured(dir, { ...settings([kept.stored]), ...mistakes });
      started.signal('SIGHUP');
      await expect.poll(() => statusOf(removed.text), { timeout: 30_000, interval: 50 }).toBe(401);
      expect(await statusOf(kept.text)).toBe(200);
    } finally {
      await started.end();
      removeDir(dir);
    }
  },
);
