import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { NOTHING_TO_SCRUB } from '../../../lib/secrets/scrub-secrets.ts';
import {
  failureOf,
  ProtocolViolation,
  readAnswer,
  readLargeAnswer,
  type Answer,
  type ReportedError,
} from './answer.ts';

const READERS: { readonly [what: string]: (content: Buffer) => Promise<Answer> } = {
  'an answer': async (content) => readAnswer(content),
  'a large answer': readLargeAnswer,
};
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const reported: ReportedError = {
  type: 'PERMANENT',
  reason: null,
  message: 'no',
  retryable: false,
  exception: null,
  traceback: null,
};

describe.each(Object.entries(READERS))('%s', (_what, readBytes) => {
  const read = (text: string) => readBytes(Buffer.from(text));

  it('brings any JSON value through unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 10 }), async (data) => {
        // JavaScript writes some floats as long integers; Python never does.
        fc.pre(!/\d{16}/.test(JSON.stringify(data)));
        const text = JSON.stringify({ ok: true, data });
        expect(await read(text)).toEqual({ ok: true, data: JSON.parse(JSON.stringify(data)) });
      }),
    );
  });

  it.each([
    ['no JSON', 'hello'],
    ['empty', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['without data', '{"ok":true}'],
    ['without ok', '{"data":1}'],
    ['with an ok that is no boolean', '{"ok":1,"data":1}'],
    ['with an error that is none', '{"ok":false,"error":"no"}'],
    ['with fields of the wrong type', '{"ok":false,"error":{"type":1,"message":"no","retryable":false}}'],
    ['with NaN', '{"ok":true,"data":NaN}'],
    ['that two answers share', '{"ok":true,"data":1}{"ok":true,"data":1}'],
    ['that nests too deep', `{"ok":true,"data":${nested(65)}}`],
  ])('%s is a protocol violation', async (_name, text) => {
    await expect(read(text)).rejects.toThrow(ProtocolViolation);
  });

  it('with bytes that are no UTF-8 is a protocol violation', async () => {
    const frame = Buffer.concat([Buffer.from('{"ok":true,"data":"'), Buffer.of(0xff), Buffer.from('"}')]);
    await expect(readBytes(frame)).rejects.toThrow(ProtocolViolation);
  });

  it('may nest 64 levels, and brackets inside strings are no nesting', async () => {
    expect((await read(`{"ok":true,"data":${nested(64)}}`)).ok).toBe(true);
    const brackets = JSON.stringify(`\\"${'['.repeat(200)}`);
    expect(await read(`{"ok":true,"data":${brackets}}`)).toMatchObject({ data: `\\"${'['.repeat(200)}` });
  });

  it.each(['9007199254740993', '-9007199254740993', '1e400', `1${'0'.repeat(400)}`])(
    'with the number %s is refused instead of rounded',
    async (number) => {
      const attempt = read(`{"ok":true,"data":{"deep":[${number}]}}`);
      await expect(attempt).rejects.toThrow(ToolFailure);
      await expect(attempt).rejects.toThrow(/JSON readers round/);
    },
  );

  it.each([
    '9007199254740991',
    '0.30000000000000004',
    '1e+22',
    '1.7976931348623157e308',
    '"9007199254740993"',
  ])('with %s is taken', async (value) => {
    expect(await read(`{"ok":true,"data":${value}}`)).toEqual({ ok: true, data: JSON.parse(value) });
  });

  it('of bytes that are no answer is always refused, and never crashes the reader', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.uint8Array(), fc.json()), async (content) => {
        const frame = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
        await expect(readBytes(frame)).rejects.toSatisfy(
          (error) => error instanceof ProtocolViolation || error instanceof ToolFailure,
        );
      }),
    );
  });
});

describe('a reported error', () => {
  it('that is an exception is PERMANENT; class, text and traceback are for the log alone', () => {
    const failure = failureOf(
      {
        ...reported,
        exception: 'KeyError',
        message: "'a'",
        traceback: 'Traceback …',
      },
      NOTHING_TO_SCRUB,
    );
    expect(failure).toMatchObject({
      type: 'PERMANENT',
      reason: 'EXCEPTION',
      origin: 'tool',
      retryable: false,
    });
    expect(failure.message).not.toMatch(/KeyError|'a'/);
    expect(failure.cause).toBe("Traceback …\nKeyError: 'a'");
  });

  it('keeps a known type and turns any other into PERMANENT', () => {
    expect(failureOf({ ...reported, type: 'RATE_LIMIT', retryable: true }, NOTHING_TO_SCRUB)).toMatchObject({
      type: 'RATE_LIMIT',
      origin: 'tool',
      retryable: true,
    });
    for (const type of ['', 'rate_limit', 'constructor', '__proto__']) {
      expect(failureOf({ ...reported, type }, NOTHING_TO_SCRUB).type).toBe('PERMANENT');
    }
  });

  it('is never longer than 500 characters', () => {
    expect(failureOf({ ...reported, message: 'x'.repeat(9999) }, NOTHING_TO_SCRUB).message).toHaveLength(500);
  });
});
