// Idempotency keys over the running gateway: one run, one outcome, whoever asks again and through whichever door.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

/** Writes a line per run, waits as long as it is told, and fails where it is told. */
const HANDLER = `
import { appendFileSync } from 'node:fs';
export async function execute({ file, wait = 0, fail = false, fields = [] }) {
  appendFileSync(file, 'ran\\n');
  await new Promise((done) => setTimeout(done, wait));
  if (fail) throw new Error('no');
  return { runs: 1, sent: 1.5, fields };
}
`;

describe('idempotency keys', () => {
  let dir: string;
  let gateway: RunningGateway;
  let calls = 0;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'ute-idempotency-'));
    writeFileSync(join(dir, 'send.mjs'), HANDLER);
    const tool = {
      description: 'Sends something',
      tool_type: 'javascript',
      implementation_config: { handler: './send.mjs', trusted: true },
      input_schema: {
        type: 'object',
        properties: { file: { type: 'string' } },
        required: ['file'],
        additionalProperties: true,
      },
    };
    const tools = [
      { ...tool, name: 'send' },
      { ...tool, name: 'send_keyed', extensions: { idempotency: { required: true } } },
      { ...tool, name: 'send_unsafe', metadata: { is_dangerous: true } },
    ];
    writeFileSync(join(dir, 'tools.yaml'), stringify({ tools }));
    gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  function newFile(): string {
    calls += 1;
    return join(dir, `runs-${calls}`);
  }

  async function call(tool: string, args: object, headers: Record<string, string> = {}, context = {}) {
    const response = await fetch(`${gateway.url}/v1/tools/${tool}/execute`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.keys.admin.text}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ arguments: args, context }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    return { status: response.status, headers: response.headers, body };
  }

  const runsIn = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1;

  it('a repeated call is not run again, and is answered with the first outcome, marked as a replay', async () => {
    const file = newFile();
    const key = { 'idempotency-key': 'order-1' };
    const first = await call('send', { file }, key);
    const second = await call('send', { file }, key);
    expect(first).toMatchObject({ status: 200, body: { data: { sent: 1.5 }, meta: { replayed: false } } });
    expect(second).toMatchObject({
      status: 200,
      body: { data: { sent: 1.5 }, meta: { replayed: true, attempts: 0 } },
    });
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(runsIn(file)).toBe(1);
  });

  it('a failure after the tool was entered is an outcome too', async () => {
    const file = newFile();
    const context = { idempotency_key: 'order-2' };
    const first = await call('send', { file, fail: true }, {}, context);
    const second = await call('send', { file, fail: true }, {}, context);
    expect(first.body).toMatchObject({ ok: false, error: { type: 'PERMANENT', partial_side_effects: true } });
    expect(second.body).toMatchObject({ ok: false, error: { type: 'PERMANENT' }, meta: { replayed: true } });
    expect(runsIn(file)).toBe(1);
  });

  it('of calls at once one runs; the others are told to wait, or wait themselves', async () => {
    const file = newFile();
    const key = { 'idempotency-key': 'order-3' };
    const args = { file, wait: 400 };
    const owner = call('send', args, key);
    await expect.poll(() => runsIn(file)).toBe(1);
    const [hasty, patient] = await Promise.all([
      call('send', args, key),
      call('send', args, { ...key, prefer: 'wait=10' }),
    ]);
    expect(hasty).toMatchObject({
      status: 409,
      body: { error: { type: 'CONFLICT', reason: 'IDEMPOTENCY_IN_FLIGHT', retryable: true } },
    });
    expect(hasty.headers.get('retry-after')).toBe('1');
    expect(patient).toMatchObject({ status: 200, body: { data: { runs: 1 }, meta: { replayed: true } } });
    expect((await owner).body).toMatchObject({ ok: true, meta: { replayed: false } });
    expect(runsIn(file)).toBe(1);
  });

  it('another payload under a used key is refused with 422', async () => {
    const file = newFile();
    const key = { 'idempotency-key': 'order-4' };
    await call('send', { file }, key);
    expect(await call('send', { file, fail: true }, key)).toMatchObject({
      status: 422,
      body: { error: { type: 'CONFLICT', reason: 'PAYLOAD_MISMATCH' } },
    });
  });

  it('a refused call does not use its key up', async () => {
    const file = newFile();
    const key = { 'idempotency-key': 'order-5' };
    const refused = await call('send_unsafe', { file }, key);
    expect(refused).toMatchObject({ status: 202, body: { error: { type: 'CONFIRMATION_REQUIRED' } } });
    const { approval_id: id, confirmation_token: token } = (
      refused.body['error'] as { details: Record<string, string> }
    ).details;
    const decided = await fetch(`${gateway.url}/v1/approvals/${id}/decision`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.keys.admin.text}`, 'content-type': 'application/json' },
      body: JSON.stringify({ decision: 'approve' }),
    });
    expect(decided.status).toBe(200);
    const context = { confirmation_token: token };
    expect(await call('send_unsafe', { file }, key, context)).toMatchObject({ status: 200 });
    // The token is used up, but the outcome is there.
    expect(await call('send_unsafe', { file }, key)).toMatchObject({
      status: 200,
      body: { meta: { replayed: true } },
    });
    expect(runsIn(file)).toBe(1);
  });

  it('a tool that requires a key refuses calls without one, and keys that are none', async () => {
    const file = newFile();
    expect(await call('send_keyed', { file })).toMatchObject({
      status: 400,
      body: { error: { reason: 'IDEMPOTENCY_KEY_REQUIRED', details: { field: 'idempotency_key' } } },
    });
    expect(await call('send_keyed', { file }, {}, { idempotency_key: 'a b' })).toMatchObject({
      status: 400,
      body: { error: { reason: 'IDEMPOTENCY_KEY_MALFORMED' } },
    });
    expect((await call('send_keyed', { file }, {}, { idempotency_key: 'order-6' })).status).toBe(200);
  });

  it('one key for a list of calls stands for each of them apart', async () => {
    const files = [newFile(), newFile()];
    const many = async () => {
      const response = await fetch(`${gateway.url}/v1/execute`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.keys.admin.text}`,
          'content-type': 'application/json',
          'idempotency-key': 'list-1',
        },
        body: JSON.stringify({ calls: files.map((file) => ({ tool: 'send', arguments: { file } })) }),
      });
      const { responses } = (await response.json()) as {
        responses: { ok: boolean; meta: { replayed: boolean } }[];
      };
      return responses.map(({ ok, meta }) => [ok, meta.replayed]);
    };
    expect(await many()).toEqual([
      [true, false],
      [true, false],
    ]);
    expect(await many()).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(files.map(runsIn)).toEqual([1, 1]);
  });

  it("another credential's key is another key", async () => {
    const file = newFile();
    const key = { 'idempotency-key': 'order-7' };
    await call('send', { file }, key);
    const agent = { ...key, authorization: `Bearer ${gateway.keys.agent.text}` };
    expect((await call('send', { file }, agent)).body).toMatchObject({ meta: { replayed: false } });
    expect(runsIn(file)).toBe(2);
  });
});
