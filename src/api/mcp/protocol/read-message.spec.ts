// A body is a message, or it is known why not and what call it would have been: of any bytes, without throwing.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { toolFailure } from '../../../contract/call/failure.ts';
import { INVALID_REQUEST, PARSE_ERROR, readMessage, Unreadable } from './read-message.ts';

const read = (text: string) => readMessage(Buffer.from(text));
const call = (args: string) =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":${args}}}`;

it('any bytes are read, or are known to be unreadable', () => {
  const bytes = fc.oneof(
    fc.uint8Array().map((made) => Buffer.from(made)),
    fc.json().map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(bytes, (body) => {
      const made = readMessage(body);
      const codes = made instanceof Unreadable ? [made.code] : [];
      expect([PARSE_ERROR, INVALID_REQUEST]).toEqual(expect.arrayContaining(codes));
      expect('value' in made).toBe(codes.length === 0);
    }),
  );
});

it('integers that no double holds are read among arguments, and nowhere else', () => {
  expect(read(call('{"a":9007199254740993}'))).toMatchObject({
    largeIntegers: ['/params/arguments/a'],
    value: { params: { arguments: { a: '9007199254740993' } } },
  });
  expect(read('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}')).toBeInstanceOf(Unreadable);
});

it('a call that is JSON and not acceptable is known by its id and its tool', () => {
  expect(read(call('{"a":1,"a":2}'))).toMatchObject({
    code: INVALID_REQUEST,
    call: { id: 7, tool: 'add' },
    failure: { details: { violations: [{ pointer: expect.stringMatching(/^\/arguments/) }] } },
  });
});

it.each([
  ['{"jsonrpc":', PARSE_ERROR],
  ['', INVALID_REQUEST],
  ['\u00ff', PARSE_ERROR],
])('%j is no call at all', (text, code) => {
  const body = text === '\u00ff' ? Buffer.from([0xff]) : Buffer.from(text);
  expect(readMessage(body)).toMatchObject({ code, call: undefined });
});

it('what was refused before it was read stays so', () => {
  const failure = toolFailure('MALFORMED_CALL', 'no');
  expect(readMessage(failure)).toMatchObject({ failure, code: INVALID_REQUEST });
});

it('nothing that is too deep is looked at twice', () => {
  expect(read(call('['.repeat(5_000) + ']'.repeat(5_000)))).toMatchObject({ call: undefined });
});
