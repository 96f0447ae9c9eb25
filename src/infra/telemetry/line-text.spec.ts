// A log line is one line of JSON that says what was logged, whatever that is.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LineText } from './line-text.ts';

const AT = Date.UTC(2026, 10, 27, 12, 0, 0, 7);
const name = fc.string({ minLength: 1, unit: 'binary' }).map((text) => `n${text}`);
const fields = fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true });

it('is one line, and read as JSON it is the level, the time, the bound fields, its own, and the message', () => {
  fc.assert(
    fc.property(fields, fields, fc.string({ unit: 'binary' }), (bound, own, msg) => {
      const line = new LineText(bound).line('info', AT, own, msg);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(JSON.parse(line)).toEqual(
        JSON.parse(
          JSON.stringify({ level: 'info', time: '2026-11-27T12:00:00.007Z', ...bound, ...own, msg }),
        ),
      );
    }),
  );
});

it('leaves out what is undefined, and has the time of each line', () => {
  const text = new LineText({});
  const lines = [AT, AT, AT + 1].map((at) => text.line('warn', at, { sessionId: undefined, n: 1 }, 'hello'));
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    ['007', '007', '008'].map((ms) => ({
      level: 'warn',
      time: `2026-11-27T12:00:00.${ms}Z`,
      n: 1,
      msg: 'hello',
    })),
  );
});

it('is written where a field has no JSON, and says so', () => {
  const broken = {
    toJSON: () => {
      throw new Error('no JSON of this');
    },
  };
  const line = new LineText({ door: 'rest' }).line('error', AT, { broken }, 'it failed');
  expect(JSON.parse(line)).toEqual({
    level: 'error',
    time: '2026-11-27T12:00:00.007Z',
    door: 'rest',
    unwritable: 'Error: no JSON of this',
    msg: 'it failed',
  });
});
