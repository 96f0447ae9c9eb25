// Named statements are asked for by their name; all others as they are.
import { EventEmitter } from 'node:events';
import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { prepareNamedStatements } from './prepared-statements.ts';

function connected() {
  const asked: unknown[][] = [];
  const client = { query: (...query: unknown[]) => asked.push(query) };
  const pool = new EventEmitter();
  prepareNamedStatements(pool as unknown as Pool);
  pool.emit('connect', client);
  return { client, asked };
}

it('a statement that begins by a name is prepared under it', () => {
  const { client, asked } = connected();
  const text = '/* accept_calls */ SELECT $1';
  client.query(text, [1]);
  client.query(text, [2]);
  expect(asked).toEqual([
    [{ name: 'accept_calls', text, values: [1] }],
    [{ name: 'accept_calls', text, values: [2] }],
  ]);
});

it.each([
  ['without a name', 'SELECT 1'],
  ['with a comment that is none', '/* Two words */ SELECT 1'],
  ['with its name elsewhere', 'SELECT 1 /* late */'],
])('a statement %s is left as it is', (_which, text) => {
  const { client, asked } = connected();
  client.query(text, []);
  expect(asked).toEqual([[text, []]]);
});

it('what is no text, such as a cursor, is left as it is', () => {
  const { client, asked } = connected();
  const cursor = { submit: () => undefined };
  client.query(cursor);
  expect(asked).toEqual([[cursor]]);
});
