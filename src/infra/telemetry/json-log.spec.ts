// Specs of JsonLog, with a list in the place of stdout; what happens at exit is tested in a process of its own.
import * as fc from 'fast-check';
import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { JsonLog, type LogLevel, type JsonLogOptions } from './json-log.ts';
import type { LogDestination } from './stdout.ts';

describe('JsonLog', () => {
  it('writes a line of JSON with level, ISO time, the fields and the message', () => {
    const { log, lines } = setUp('debug');
    log.debug({ callId: 'c1' }, 'one');
    log.info({}, 'two');
    log.warn({ attempts: 2 }, 'three');
    log.error({}, 'four');
    expect(lines()).toMatchObject([
      { level: 'debug', callId: 'c1', msg: 'one' },
      { level: 'info', msg: 'two' },
      { level: 'warn', attempts: 2, msg: 'three' },
      { level: 'error', msg: 'four' },
    ]);
    expect(lines()[0]?.['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('leaves out what is below its level', () => {
    const { log, lines } = setUp('warn');
    log.debug({}, 'one');
    log.info({}, 'two');
    log.warn({}, 'three');
    expect(lines().map(({ msg }) => msg)).toEqual(['three']);
    const silent = setUp('silent');
    silent.log.error({}, 'four');
    expect(silent.lines()).toEqual([]);
  });

  it('repeats the fields of a child in each of its lines', () => {
    const { log, lines } = setUp();
    const child = log.child({ door: 'rest' }).child({ loader: 'yaml-file', password: 'hunter2' });
    child.info({ callId: 'c1' }, 'hello');
    expect(lines()).toMatchObject([
      { door: 'rest', loader: 'yaml-file', password: '[hidden]', callId: 'c1' },
    ]);
  });

  it.each([
    'authorization',
    'Authorization',
    'api_key',
    'apiKey',
    'x-api-key',
    'token',
    'confirmation_token',
    'accessToken',
    'password',
    'clientSecret',
    'set-cookie',
  ])('hides the value of %s, at any depth', (name) => {
    const { log, lines, text } = setUp();
    log.info(
      { [name]: 'hunter2', headers: { [name]: 'hunter2' }, list: [{ deep: { [name]: ['hunter2'] } }] },
      'hello',
    );
    expect(lines()).toMatchObject([
      { headers: { [name]: '[hidden]' }, list: [{ deep: { [name]: '[hidden]' } }] },
    ]);
    expect(text()).not.toContain('hunter2');
  });

  it('changes nothing of what it was given, and shows what only sounds like a secret', () => {
    const { log, lines } = setUp();
    const fields = { maxTokens: 10, tokenHash: 'abc', nested: { secret: 's' } };
    log.info(fields, 'hello');
    expect(fields).toEqual({ maxTokens: 10, tokenHash: 'abc', nested: { secret: 's' } });
    expect(lines()).toMatchObject([{ maxTokens: 10, tokenHash: 'abc' }]);
  });

  it('writes an error with its stack and its cause, without the secrets that it carries', () => {
    const { log, lines, text } = setUp();
    const cause = new Error('connection refused');
    const error = Object.assign(new Error('upstream failed', { cause }), {
      headers: { authorization: 'hunter2' },
    });
    log.error({ err: error, nested: { reason: error } }, 'hello');
    const [line] = lines();
    expect(line).toMatchObject({ err: { type: 'Error', headers: { authorization: '[hidden]' } } });
    expect(line).toMatchObject({ nested: { reason: { headers: { authorization: '[hidden]' } } } });
    expect(JSON.stringify(line?.['err'])).toMatch(/upstream failed.*connection refused.*json-log\.spec\.ts/s);
    expect(text()).not.toContain('hunter2');
  });

  it('repeats nothing of a row that PostgreSQL refuses', () => {
    const { log, lines, text } = setUp();
    const refused = Object.assign(new DatabaseError('null value in column "id"', 0, 'error'), {
      code: '23502',
      severity: 'ERROR',
      routine: 'ExecConstraints',
      detail: 'Failing row contains (null, ann).',
      where: 'line 1: "ann"',
    });
    log.error({ err: refused }, 'not stored');
    expect(lines()).toMatchObject([{ err: { message: 'null value in column "id"', code: '23502' } }]);
    expect(text()).not.toContain('ann');
  });

  it('keeps what it was told to hide out of every line, fields, errors and messages alike', () => {
    const { log, lines, text } = setUp();
    log.hide(['s3cret-of-a-url', 'pass"word']);
    const child = log.child({ server: 'http://h/s3cret-of-a-url' });
    const cause = new Error('GET /q/s3cret%2Dof-a-url');
    child.info({ err: new Error('no pass"word', { cause }), [`x-s3cret-of-a-url`]: 1 }, 'at s3cret-of-a-url');
    expect(lines()).toMatchObject([{ server: 'http://h/[secret]', msg: 'at [secret]', 'x-[secret]': 1 }]);
    expect(text()).not.toMatch(/s3cret|pass..?word/);
  });

  it('a line reads the same whether it is looked at as a whole or value by value', () => {
    const secret = fc.stringMatching(/^[a-c"\\\\%&1-3é ]{4,9}$/);
    const around = fc.array(fc.oneof(secret, fc.constantFrom('abc', ' ', '"', '1')), { maxLength: 4 });
    const value = (secrets: readonly string[]) =>
      fc.oneof(
        fc.shuffledSubarray([...secrets, 'abc', '"']).map((parts) => parts.join('')),
        fc.constantFrom(...secrets).map((text) => encodeURIComponent(text)),
        fc.constantFrom(...secrets).map(Number),
        around.map((parts) => parts.join('')),
      );
    const lined = fc.array(secret, { minLength: 1, maxLength: 3 }).chain((secrets) =>
      fc.record({
        secrets: fc.constant(secrets),
        fields: fc.dictionary(
          fc.oneof(fc.constantFrom('tool', 'n'), value(secrets).map(String)),
          value(secrets),
        ),
        message: value(secrets).map(String),
      }),
    );
    fc.assert(
      fc.property(lined, ({ secrets, fields, message }) => {
        const [whole, byValue] = [setUp(), setUp('info', () => undefined)];
        for (const { log } of [whole, byValue]) {
          log.hide(secrets);
          log.info(fields, message);
        }
        const untimed = ({ text }: { text: () => string }) => text().replace(/"time":"[^"]*"/, '');
        expect(untimed(whole)).toBe(untimed(byValue));
      }),
    );
  });

  it('survives fields without end', () => {
    const { log, lines } = setUp();
    const endless: Record<string, unknown> = { name: 'a' };
    endless['self'] = endless;
    log.info({ endless }, 'hello');
    expect(JSON.stringify(lines())).toContain('[too deep]');
  });

  it('writes a number that JSON does not have, at any depth', () => {
    const { log, lines } = setUp();
    log.info({ rows: 12n, nested: { rows: [2n ** 64n] } }, 'hello');
    expect(lines()).toMatchObject([{ rows: '12', nested: { rows: ['18446744073709551616'] } }]);
  });

  it('writes a value with a line break as one line', () => {
    const { log, text } = setUp();
    log.info({ tool: 'a\n{"level":"error","msg":"forged"}' }, 'hello\nworld');
    expect(text().trimEnd()).not.toContain('\n');
  });

  it('of which a process has had many leaves nothing there', () => {
    JsonLog.create({ level: 'silent' });
    const before = process.listenerCount('exit');
    for (let made = 0; made < 20; made += 1) JsonLog.create({ level: 'silent' });
    expect(process.listenerCount('exit')).toBe(before);
  });

  it('flushes without failing, even where the destination cannot', async () => {
    const { log, flushed } = setUp();
    await log.child({}).flush();
    expect(flushed()).toBe(1);
  });
});

function setUp(level: LogLevel = 'info', alsoTo?: JsonLogOptions['alsoTo']) {
  let text = '';
  let flushed = 0;
  const destination: LogDestination = {
    write: (line) => {
      text += line;
    },
    flush: (done) => {
      flushed += 1;
      done(new Error('a pipe cannot be synced'));
    },
  };
  const log = JsonLog.create({ level, destination, ...(alsoTo !== undefined && { alsoTo }) });
  const written = () => {
    void log.flush();
    return text;
  };
  const lines = () => written().trimEnd().split('\n').filter(Boolean);
  return {
    log,
    lines: () => lines().map((line) => JSON.parse(line) as Record<string, unknown>),
    text: written,
    flushed: () => flushed,
  };
}
