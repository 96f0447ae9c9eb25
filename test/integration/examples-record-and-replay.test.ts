// examples/record-and-replay: what its README shows, by the command line, against two real gateways.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const TOOLS = ['examples/record-and-replay/tools.yaml'];
const DAY = '{"day": "2026-03-02"}';
const PHONE = '+44 20 7946 0018';
const BOOKING = JSON.stringify({ slot: '2026-03-02T10:30', phone: PHONE });

let dir: string;
let live: RunningGateway;
let replaying: RunningGateway;
/** What the live gateway answered. */
const answers: unknown[] = [];
const codes: number[] = [];

async function ute(gateway: RunningGateway, ...argv: string[]) {
  let out = '';
  const write = (text: string) => void (out += text);
  const env = { UTE_URL: gateway.url, UTE_API_KEY: gateway.keys.admin.text };
  const io = { stdout: write, stderr: write, cwd: dir, env, fetch, readStdin: async () => '' };
  return { code: await run(argv, io), out };
}

async function call(gateway: RunningGateway, tool: string, args: string) {
  const { out } = await ute(gateway, 'call', tool, args, '--context', 'session_id=call-1');
  return JSON.parse(out) as {
    ok: boolean;
    data?: unknown;
    intents?: unknown;
    error?: { reason: string; message: string };
    meta: object;
  };
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-recording-'));
  live = await startGateway({ tools: TOOLS });
  codes.push((await ute(live, 'record', 'booking', '--session', 'call-1')).code);
  for (const [tool, args] of [
    ['find_slots', DAY],
    ['find_slots', DAY],
    ['book_slot', BOOKING],
  ] as const) {
    const { data, intents } = await call(live, tool, args);
    answers.push({ data, intents });
  }
  codes.push((await ute(live, 'record', 'booking', '--stop', '--out', 'booking.jsonl')).code);
  replaying = await startGateway({
    tools: TOOLS,
    settings: { replay: { file: join(dir, 'booking.jsonl') } },
  });
});

afterAll(async () => {
  await live?.stop();
  await replaying?.stop();
  rmSync(dir, { recursive: true, force: true });
});

describe('the record-and-replay example', () => {
  it('writes a file of its own, without the number that is marked as sensitive', () => {
    expect(codes).toEqual([0, 0]);
    const path = join(dir, 'booking.jsonl');
    const text = readFileSync(path, 'utf8');
    expect(text.trimEnd().split('\n')).toHaveLength(5);
    expect(text).not.toContain('7946');
    expect(text).toContain('"reminder_to":"[secret]"');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('answers in the recorded order, without running the tools', async () => {
    const again = [];
    for (const [tool, args] of [
      ['find_slots', DAY],
      ['find_slots', DAY],
      ['book_slot', BOOKING],
    ] as const) {
      const { data, intents, meta } = await call(replaying, tool, args);
      expect(meta).toMatchObject({ recorded: true, attempts: 0 });
      again.push({ data, intents });
    }
    // The number was given back in the answer: there the recording has a mark in its place.
    const expected = JSON.parse(JSON.stringify(answers).replaceAll(PHONE, '[secret]')) as unknown;
    expect(again).toEqual(expected);
    expect(answers[0]).not.toEqual(answers[1]);
    expect(await ute(replaying, 'replay')).toMatchObject({
      code: 0,
      out: expect.stringContaining('3 answered, 0 not recorded'),
    });
  });

  it('refuses what was not recorded, and says what was nearest', async () => {
    const { error } = await call(replaying, 'find_slots', '{"day": "2026-03-03"}');
    expect(error).toMatchObject({ type: 'NOT_FOUND', reason: 'NOT_RECORDED' });
    expect(error?.message).toContain('The nearest is call 1: /day was "2026-03-02", not "2026-03-03".');
    const report = await ute(replaying, 'replay', '--rewind');
    expect(report).toMatchObject({ code: 1, out: expect.stringContaining('{"day":"2026-03-03"}') });
    expect(await ute(replaying, 'replay')).toMatchObject({
      code: 1,
      out: expect.stringContaining('recorded, not asked for'),
    });
  });

  it('gateway.yaml is found good by ute validate, and replay.yaml once there is the recording, as by a gateway', async () => {
    const validate = (file: string) =>
      ute(live, 'validate', '--config', join(process.cwd(), 'examples/record-and-replay', file));
    expect(await validate('gateway.yaml')).toEqual({ code: 0, out: 'ok: 2 tools\n' });
    expect(await validate('replay.yaml')).toMatchObject({
      code: 1,
      out: expect.stringContaining('booking.jsonl: the recording cannot be read'),
    });
  });
});
