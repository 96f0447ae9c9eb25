// Attacks on recordings and replays: secrets in files, names that climb, files that lie, and answers that leak into stores.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRecordingFile } from '../../src/infra/recordings/read-recording.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { functionOf } from '../helpers/call-kit.ts';
import { openRecordingKit, openReplaySource, recorded, replayed } from '../helpers/recording-kit.ts';

const PIN = 'correct-horse-battery';
const VAULT = functionOf({
  inputSchema: {
    type: 'object',
    properties: { pin: { type: 'string', 'x-ute-sensitive': true }, note: { type: 'string' } },
  },
});

let dir: string;

beforeAll(() => (dir = mkdtempSync(join(tmpdir(), 'ute-attack-'))));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A good recording of two calls. */
async function recording() {
  const kit = await openRecordingKit();
  await kit.recordings.start(kit.wish());
  for (const a of [1, 2]) await recorded(kit.recordings, kit.call({ a }), () => ({ data: { a } }));
  await kit.recordings.stop('test');
  return { kit, lines: readFileSync(kit.pathOf('test'), 'utf8').trimEnd().split('\n') };
}

async function refusalOf(content: string | Uint8Array): Promise<string> {
  const path = join(dir, 'hostile.jsonl');
  writeFileSync(path, content);
  return readRecordingFile(path).then(
    () => 'was taken',
    (error: Error) => error.message.replace(`${path}:`, ''),
  );
}

describe('secrets', () => {
  it('a sensitive argument is nowhere in the file, though the tool gives it back in every form', async () => {
    const kit = await openRecordingKit();
    await kit.recordings.start(kit.wish());
    const call = kit.call({ pin: PIN, note: `my pin is ${PIN}` }, { function: VAULT });
    const base64 = Buffer.from(`x${PIN}y`).toString('base64');
    await recorded(kit.recordings, call, () => ({
      data: [PIN, { [PIN]: encodeURIComponent(PIN) }, base64, Buffer.from(PIN).toString('hex')],
      intents: [{ type: 'SET_PENDING_MESSAGE', text: PIN }],
    }));
    await kit.recordings.stop('test');
    const text = readFileSync(kit.pathOf('test'), 'utf8');
    expect(text).not.toContain(PIN);
    expect(text).not.toContain(Buffer.from(PIN).toString('hex'));
    expect(text).not.toContain(Buffer.from(PIN).toString('base64').slice(0, 20));
    expect(text).toMatch(/"pin":"hmac-sha256:[0-9a-f]{64}"/);
  });

  it('a guess at a sensitive argument cannot be checked against the file without the key', async () => {
    const files = [];
    for (const kit of [await openRecordingKit(), await openRecordingKit()]) {
      await kit.recordings.start(kit.wish());
      await recorded(kit.recordings, kit.call({ pin: PIN }, { function: VAULT }), () => ({ data: 1 }));
      await kit.recordings.stop('test');
      files.push(/hmac-sha256:[0-9a-f]{64}/.exec(readFileSync(kit.pathOf('test'), 'utf8'))?.[0]);
    }
    expect(new Set(files).size).toBe(2);
  });

  it('another pin does not get the answer that was recorded for this one', async () => {
    const kit = await openRecordingKit();
    await kit.recordings.start(kit.wish());
    await recorded(kit.recordings, kit.call({ pin: PIN }, { function: VAULT }), () => ({ data: 'open' }));
    await kit.recordings.stop('test');
    const source = await openReplaySource(kit.pathOf('test'));
    const right = await replayed(source, kit.call({ pin: PIN }, { function: VAULT }));
    const wrong = await replayed(source, kit.call({ pin: 'wrong-horse' }, { function: VAULT }));
    const pasted = /hmac-sha256:[0-9a-f]{64}/.exec(readFileSync(kit.pathOf('test'), 'utf8'))?.[0] ?? '';
    const sealed = await replayed(source, kit.call({ pin: pasted }, { function: VAULT }));
    expect([right.ok, wrong.ok, sealed.ok]).toEqual([true, false, false]);
    expect(JSON.stringify(wrong)).not.toContain('wrong-horse');
    // Without the key there is nothing to compare with: the value counts as any other.
    const elsewhere = await openReplaySource(kit.pathOf('test'), {}, dir);
    expect((await replayed(elsewhere, kit.call({ pin: 'any' }, { function: VAULT }))).ok).toBe(true);
  });
});

describe('files that lie', () => {
  it('a file that was cut in a line is refused by that line', async () => {
    const { lines } = await recording();
    const whole = lines.join('\n');
    expect(await refusalOf(whole.slice(0, whole.indexOf(lines[2] ?? '') + 20))).toBe(
      '3: the line has no end: the file was cut',
    );
    expect(await refusalOf(`${lines.slice(0, 3).join('\n')}\n`)).toMatch(/^4: the recording has no end/);
    expect(await refusalOf('')).toMatch(/^1: the file is empty/);
  });

  it.each<[string, (line: string) => string, RegExp]>([
    ['broken JSON', (line) => line.slice(0, -1), /^2: is not valid JSON$/],
    ['a list', () => '[]', /^2: expected an object, found a list$/],
    ['other arguments than its hash', (line) => line.replace('{"a":1}', '{"a":9}'), /^2: arguments_hash: /],
    [
      'arguments that are no object',
      (line) => line.replace('"arguments":{"a":1}', '"arguments":"x"'),
      /^2: arguments: expected an object, found "x"$/,
    ],
    [
      'an order of 0',
      (line) => line.replace('"order":1', '"order":0'),
      /^2: order: expected a whole number of at least 1, found 0$/,
    ],
    [
      'the order of another',
      (line) => line.replace('"order":1', '"order":2'),
      /^3: order: 2 is taken by line 2 already$/,
    ],
    ['no answer', (line) => line.replace(/"data":\{.*?\},/, ''), /^2: data: expected the answer/],
    ['an intent without a type', (line) => line.replace('"intents":[]', '"intents":[{}]'), /^2: intents: /],
    [
      'an error of a type that is none',
      (line) => line.replace(/"ok":true.*/, '"ok":false,"error":{"type":"constructor"}}'),
      /^2: error.type: .*found "constructor"$/,
    ],
    ['a head', () => '{"ute_recording":1}', /^2: arguments: /],
    ['the end', () => '{"ended":"stopped","calls":0,"missed":0}', /^3: expected nothing after/],
  ])('a line that is %s is refused by its number', async (_what, damage, words) => {
    const { lines } = await recording();
    const [head = '', first = '', ...rest] = lines;
    expect(await refusalOf(`${[head, damage(first), ...rest].join('\n')}\n`)).toMatch(words);
  });

  it('a line that was taken out is missed', async () => {
    const { lines } = await recording();
    expect(await refusalOf(`${lines.toSpliced(1, 1).join('\n')}\n`)).toMatch(
      /^3: calls: expected 1, .* found 2$/,
    );
  });

  it('another file than a recording is refused', async () => {
    expect(await refusalOf('{"order":1}\n')).toMatch(/^1: is not the first line of a recording/);
    expect(await refusalOf('{"ute_recording":2}\n')).toMatch(/^1: ute_recording: expected 1/);
    expect(await refusalOf(Uint8Array.of(0xff, 0xfe, 0x0a))).toBe('1: is not UTF-8');
    expect(await refusalOf(Buffer.alloc(1 << 20, '\n'))).toBe('1: is not valid JSON');
  });

  it('a line of brackets a million deep takes nothing down', async () => {
    const { lines } = await recording();
    const [head = '', first = ''] = lines;
    const deep = '['.repeat(1e6) + ']'.repeat(1e6);
    expect(await refusalOf(`${head}\n${first.replace(/"data":\{.*?\}/, `"data":${deep}`)}\n`)).toMatch(
      /^2: (is nested too deeply|is not valid JSON)$/,
    );
    const args = `{"a":${'[1,'.repeat(1e5)}1${']'.repeat(1e5)}}`;
    expect(await refusalOf(`${head}\n${first.replace('{"a":1}', args)}\n`)).toMatch(/^2: /);
  });

  it('a file larger than any recording is refused before it is read', async () => {
    const path = join(dir, 'huge.jsonl');
    writeFileSync(path, '');
    truncateSync(path, 2 ** 34);
    await expect(readRecordingFile(path)).rejects.toThrow(/it has 17179869184 bytes/);
    await expect(readRecordingFile('/dev/zero')).rejects.toThrow(/not a plain file/);
    await expect(readRecordingFile(dir)).rejects.toThrow(/cannot be read/);
  });
});

it('a thousand large calls that were not recorded are refused in bounded time, and named in bounded space', async () => {
  const kit = await openRecordingKit();
  await kit.recordings.start(kit.wish({ maxBytes: 64 << 20 }));
  for (let at = 0; at < 300; at += 1)
    await recorded(kit.recordings, kit.call({ at, text: 'x'.repeat(50_000) }), () => ({ data: 1 }));
  await kit.recordings.stop('test');
  const source = await openReplaySource(kit.pathOf('test'));
  const before = process.cpuUsage();
  for (let at = 0; at < 1_500; at += 1)
    await replayed(source, kit.call({ at: -at - 1, text: 'y'.repeat(5_000) }));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(20);
  const report = source.report();
  expect([report.missed, report.notRecordedCount, report.notRecorded.length]).toEqual([1_500, 1_500, 1_000]);
  expect(JSON.stringify(report).length).toBeLessThan(2_000_000);
});

describe('the operator side', () => {
  let gateway: RunningGateway;
  beforeAll(async () => (gateway = await startGateway({ tools: ['examples/record-and-replay/tools.yaml'] })));
  afterAll(() => gateway?.stop());

  it('an agent may neither record nor read what was recorded', async () => {
    const agent = targetOf(gateway, 'agent');
    const answers = await Promise.all([
      request(agent, 'POST', '/v1/admin/recordings', { name: 'mine' }),
      request(agent, 'GET', '/v1/admin/recordings'),
      request(agent, 'GET', '/v1/admin/recordings/any'),
      request(agent, 'DELETE', '/v1/admin/recordings/any'),
      request(agent, 'POST', '/v1/admin/recordings/any/stop', {}),
      request(agent, 'GET', '/v1/admin/replay'),
      request(agent, 'POST', '/v1/admin/replay/rewind', {}),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403]);
  });

  it('a name that climbs out of the folder is no name', async () => {
    const admin = targetOf(gateway);
    const data = join(gateway.dir, 'data');
    writeFileSync(join(data, 'secret.jsonl'), 'kept apart');
    for (const name of [
      '../secret',
      '..%2fsecret',
      '%2e%2e%2fsecret',
      'seal.key',
      '.',
      'a/b',
      'x'.repeat(65),
    ]) {
      expect((await request(admin, 'POST', '/v1/admin/recordings', { name })).status).toBe(400);
      for (const method of ['GET', 'DELETE']) {
        const { status, body } = await request(
          admin,
          method,
          `/v1/admin/recordings/${encodeURIComponent(name)}`,
        );
        expect([status, JSON.stringify(body)]).toEqual([404, expect.not.stringContaining('kept apart')]);
      }
    }
    expect(readFileSync(join(data, 'secret.jsonl'), 'utf8')).toBe('kept apart');
  });

  it('a link planted where a recording would be written is not written through', async () => {
    const folder = join(gateway.dir, 'data', 'recordings');
    const outside = join(dir, 'outside');
    writeFileSync(outside, 'as it was');
    mkdirSync(folder, { recursive: true });
    symlinkSync(outside, join(folder, `planted.${process.pid}.part`));
    const { status } = await request(targetOf(gateway), 'POST', '/v1/admin/recordings', { name: 'planted' });
    expect([status, readFileSync(outside, 'utf8')]).toEqual([503, 'as it was']);
  });

  it.each([
    [{ name: 'x', max_calls: 0 }, '/max_calls'],
    [{ name: 'x', max_bytes: 1e12 }, '/max_bytes'],
    [{ name: 'x', ttl: '9d' }, '/ttl'],
    [{ name: 'x', tools: [] }, '/tools'],
    [{ name: 'x', tools: [1] }, '/tools/0'],
    [{ name: 'x', session_id: '' }, '/session_id'],
    [{ name: 'x', sesion_id: 'a' }, '/sesion_id'],
    [{ name: 7 }, '/name'],
    [[], ''],
  ])('a wish without bounds or sense is refused: %o', async (body, pointer) => {
    const answer = await request<{ violations: { pointer: string }[] }>(
      targetOf(gateway),
      'POST',
      '/v1/admin/recordings',
      body,
    );
    expect([answer.status, answer.body.violations[0]?.pointer]).toEqual([400, pointer]);
  });

  it('a recording that names no tenant holds nothing of another', async () => {
    const call = (who: 'agent' | 'other') =>
      request(targetOf(gateway, who), 'POST', '/v1/tools/find_slots/execute', {
        arguments: { day: '2026-01-01' },
      });
    await request(targetOf(gateway), 'POST', '/v1/admin/recordings', { name: 'own' });
    await call('other');
    await call('agent');
    const { body } = await request(targetOf(gateway), 'POST', '/v1/admin/recordings/own/stop', {});
    expect(body).toMatchObject({ tenant_id: 'acme', calls: 1 });
    expect(readdirSync(join(gateway.dir, 'data', 'recordings'))).toContain('own.jsonl');
  });
});
