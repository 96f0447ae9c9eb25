// What a schema marks with x-ute-sensitive is masked wherever a call is shown or kept: whichever door it came through.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { grpcDoor, restDoor, type Door } from '../helpers/doors.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const CARD = '4929-1337-4929-1337';
const SCHEDULED = '5105-2448-5105-2448';
const LATER = '3782-8224-6310-0055';
/** Reads as "transfer to alice" and is something else. */
const TURNED = 'transfer to \u202eecila\u202c \u200bnow\u00a0or\u2800\ue000\ufe0f';

let gateway: RunningGateway;
let dir: string;
let doors: readonly Door[];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-sensitive-'));
  writeFileSync(join(dir, 'pay.js'), 'export const execute = () => ({ paid: true });\n');
  const input_schema = {
    type: 'object',
    properties: { card: { type: 'string', 'x-ute-sensitive': true }, note: { type: 'string' } },
    required: ['card'],
  };
  const tool = (name: string, metadata: object) => ({
    name,
    description: name,
    tool_type: 'javascript',
    input_schema,
    implementation_config: { handler: './pay.js', trusted: true },
    metadata,
  });
  const tools = [tool('pay', { requires_approval: true }), tool('note_card', { idempotent: true })];
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
  doors = [restDoor(gateway), grpcDoor(gateway)];
});

afterAll(async () => {
  for (const door of doors ?? []) door.close();
  await gateway?.stop();
  rmSync(dir, { recursive: true, force: true });
});

interface WireApproval {
  readonly id: string;
  readonly arguments: Record<string, string>;
}

describe('a sensitive value', () => {
  it.each([0, 1])(
    'is masked in an approval, which runs the call with it all the same (door %i)',
    async (at) => {
      const admin = targetOf(gateway);
      const asked = {
        tool: 'pay',
        argumentsJson: JSON.stringify({ card: CARD, note: TURNED }),
        key: admin.key,
      };
      const held = await doors[at]!.call(asked);
      expect(held.type).toBe('CONFIRMATION_REQUIRED');
      const id = String(held.details?.['approval_id']);
      const one = await request<WireApproval>(admin, 'GET', `/v1/approvals/${id}`);
      expect(one.body.arguments['card']).toBe('[sensitive]');
      const list = await request<object>(admin, 'GET', '/v1/approvals');
      const decided = await request<object>(admin, 'POST', `/v1/approvals/${id}/decision`, {
        decision: 'approve',
      });
      expect(decided.status).toBe(200);
      expect(JSON.stringify([one.body, list.body, decided.body, held])).not.toContain(CARD);
      // Asked for at one door, redeemed at the other.
      const context = { confirmation_token: String(held.details?.['confirmation_token']) };
      expect(await doors[1 - at]!.call({ ...asked, context })).toMatchObject({
        ok: true,
        data: { paid: true },
      });
    },
  );

  it('shows what an approver would not see: characters that turn a text around or are invisible', async () => {
    const admin = targetOf(gateway);
    const argumentsJson = JSON.stringify({ card: CARD, note: TURNED });
    const held = await doors[0]!.call({ tool: 'pay', argumentsJson, key: admin.key });
    const id = String(held.details?.['approval_id']);
    const { body } = await request<WireApproval>(admin, 'GET', `/v1/approvals/${id}`);
    expect(body.arguments['note']).toBe(
      'transfer to \\u{202e}ecila\\u{202c} \\u{200b}now\\u{a0}or\\u{2800}\\u{e000}\\u{fe0f}',
    );
  });

  it('is masked in a schedule, for its owner too', async () => {
    const admin = targetOf(gateway);
    const made = await request<{ id: string; arguments: object }>(admin, 'POST', '/v1/schedules', {
      tool: 'note_card',
      arguments: { card: SCHEDULED, note: 'n' },
      schedule: 'every 6h',
    });
    expect(made.status).toBe(201);
    expect(made.body.arguments).toEqual({ card: '[sensitive]', note: 'n' });
    const list = await request<object>(admin, 'GET', '/v1/schedules');
    expect(JSON.stringify([made.body, list.body])).not.toContain(SCHEDULED);
  });

  it('is shown of no call that runs later, before its end or after', async () => {
    const admin = targetOf(gateway);
    const id = await acceptedId(admin, 'note_card', { card: LATER, note: 'later' });
    const shown = async () => {
      const paths = [`/v1/calls/${id}`, `/v1/calls/${id}/events`, '/v1/calls', '/v1/audit'];
      const headers = { authorization: `Bearer ${admin.key}` };
      const answers = await Promise.all(paths.map((path) => fetch(`${gateway.url}${path}`, { headers })));
      return (await Promise.all(answers.map((answer) => answer.text()))).join();
    };
    expect(await shown()).not.toContain(LATER);
    await callWhen(admin, id);
    expect(await shown()).not.toContain(LATER);
  });

  it('is not in calls, audit records or a recording, and nowhere on the disk once its calls have ended', async () => {
    const admin = targetOf(gateway);
    const begun = await request<{ name: string }>(admin, 'POST', '/v1/admin/recordings', { name: 'cards' });
    for (const door of doors) {
      const call = { tool: 'note_card', argumentsJson: JSON.stringify({ card: CARD }), key: admin.key };
      expect(await door.call(call)).toMatchObject({ ok: true });
    }
    // A key is kept with a hash of what it stands for; the other door finds it.
    for (const [at, door] of doors.entries()) {
      const keyed = {
        tool: 'note_card',
        argumentsJson: JSON.stringify({ card: CARD, note: `by ${door.name}` }),
        context: { idempotency_key: `k-${at}` },
        key: admin.key,
      };
      expect(await door.call(keyed)).toMatchObject({ ok: true, meta: { replayed: false } });
      expect(await doors[1 - at]!.call(keyed)).toMatchObject({ ok: true, meta: { replayed: true } });
      const refused = await door.call({
        ...keyed,
        argumentsJson: JSON.stringify({ card: [CARD], note: CARD.length }),
      });
      expect(refused).toMatchObject({ type: 'VALIDATION' });
      expect(JSON.stringify(refused)).not.toContain(CARD);
    }
    for (const path of ['/v1/calls', '/v1/audit', `/v1/admin/recordings/${begun.body.name}`]) {
      const response = await fetch(`${gateway.url}${path}`, {
        headers: { authorization: `Bearer ${admin.key}` },
      });
      expect(await response.text()).not.toContain(CARD);
    }
    await gateway.service.stop();
    expect(filesWith(join(gateway.dir, 'data'), CARD)).toEqual([]);
  });
});

function filesWith(folder: string, text: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(text));
}
