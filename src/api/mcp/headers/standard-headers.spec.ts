// The headers of 2026-07-28 say what the message says, also where no header can hold it as it is.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { headerMissing } from './standard-headers.ts';

const HEADERS = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' };
const message = (method: string, params: Record<string, unknown>) =>
  ({ jsonrpc: '2.0', id: 1, method, params }) as Parameters<typeof headerMissing>[0];
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

it.each([
  ['tools/call', 'name'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])('%s is named by params.%s, in plain or in base64', (method, field) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
      const asked = message(method, { [field]: name });
      expect(headerMissing(asked, { ...HEADERS, 'mcp-name': base64(name) })).toBeUndefined();
      expect(headerMissing(asked, { ...HEADERS, 'mcp-name': base64(`${name}x`) })).toContain('Mcp-Name');
    }),
  );
  const plain = message(method, { [field]: 'add' });
  expect(headerMissing(plain, { ...HEADERS, 'mcp-name': 'add' })).toBeUndefined();
  expect(headerMissing(plain, HEADERS)).toContain('Mcp-Name is missing');
});

it('methods that name nothing need no name, as those whose name is no text', () => {
  expect(headerMissing(message('tools/list', {}), HEADERS)).toBeUndefined();
  expect(headerMissing(message('tools/call', { name: 7 }), HEADERS)).toBeUndefined();
  expect(headerMissing(message('constructor', { name: 'x' }), HEADERS)).toBeUndefined();
});

it('the version and the method are asked for', () => {
  expect(headerMissing(message('tools/list', {}), { 'mcp-method': 'tools/list' })).toContain(
    'MCP-Protocol-Version',
  );
  expect(headerMissing(message('tools/list', {}), { 'mcp-protocol-version': '2026-07-28' })).toContain(
    'Mcp-Method',
  );
});
