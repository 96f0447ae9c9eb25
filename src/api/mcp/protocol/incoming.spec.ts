// What a body is: a request, a notification or an answer of one era, or nothing that is served; whatever it holds.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { idOf, incoming } from './incoming.ts';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
const message = (more: object = {}) => ({ jsonrpc: '2.0', id: 1, method: 'tools/list', ...more });
const read = (body: unknown, headers: object = {}) => incoming({ headers } as never, body);

it('a request of 2026-07-28 says so in its message and its headers', () => {
  const body = message({ params: { _meta: META } });
  expect(read(body, MODERN)).toMatchObject({ kind: 'request', era: 'modern' });
  expect(read(body, { ...MODERN, 'mcp-method': 'tools/call' })).toMatchObject({
    kind: 'rejected',
    status: 400,
  });
  expect(read(body, { 'mcp-protocol-version': '2026-07-28' })).toMatchObject({ status: 400, code: -32_020 });
});

it('one without a version is of the era before, as are what it notifies and answers', () => {
  expect(read(message())).toMatchObject({ kind: 'request', era: 'legacy' });
  expect(read({ jsonrpc: '2.0', method: 'notifications/initialized' })).toMatchObject({
    kind: 'notification',
    era: 'legacy',
  });
  expect(read({ jsonrpc: '2.0', id: 1, result: {} })).toMatchObject({ kind: 'response' });
});

it('a revision that nobody serves is refused by its name', () => {
  const body = message({
    params: { _meta: { ...META, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' } },
  });
  const refused = read(body, { ...MODERN, 'mcp-protocol-version': '2031-01-01' });
  expect(refused).toMatchObject({ kind: 'rejected', status: 400, data: { requested: '2031-01-01' } });
  expect(read(message(), { 'mcp-protocol-version': '1999-01-01' })).toMatchObject({
    kind: 'rejected',
    status: 400,
  });
});

it('several messages in one body are none', () => {
  expect(read([message(), message({ id: 2 })])).toMatchObject({ kind: 'rejected', status: 400 });
});

it('whatever JSON a body is, it is read or refused, without an error', () => {
  const header = fc.option(fc.constantFrom('2026-07-28', '2025-11-25', 'x'), { nil: undefined });
  fc.assert(
    fc.property(fc.jsonValue(), header, (body, version) => {
      const { kind } = read(body, { 'mcp-protocol-version': version });
      expect(['request', 'notification', 'response', 'rejected']).toContain(kind);
    }),
  );
});

it('the id that is said back is a text or a whole number', () => {
  expect([1, 'a', 1.5, null, {}, undefined].map((id) => idOf({ id }))).toEqual([
    1,
    'a',
    null,
    null,
    null,
    null,
  ]);
  expect([null, 7, [], 'x'].map(idOf)).toEqual([null, null, null, null]);
});
