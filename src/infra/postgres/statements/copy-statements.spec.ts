// COPY takes its rows as a parameter; every other statement is left as it is.
import { EventEmitter } from 'node:events';
import { DatabaseError, type Pool } from 'pg';
import { expect, it } from 'vitest';
import { takeCopyStatements } from './copy-statements.ts';

const COPY = 'COPY audit_trail (a, b) FROM STDIN';

interface Asked {
  handleError(error: Error): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleReadyForQuery(): void;
}

async function* rowsOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

function connected() {
  const asked: unknown[][] = [];
  const client = { query: (...query: unknown[]): unknown => (asked.push(query), query[0]) };
  const pool = new EventEmitter();
  takeCopyStatements(pool as unknown as Pool);
  pool.emit('connect', client);
  return { client, asked };
}

it.each([COPY, `${COPY} (FORMAT binary)`])(
  '%s with rows is a statement that gives their number',
  async (text) => {
    const { client, asked } = connected();
    const answer = client.query(text, [rowsOf('1\t2\n')]);
    const copy = asked[0]?.[0] as Asked;
    copy.handleCommandComplete({ text: 'COPY 3' });
    copy.handleReadyForQuery();
    expect(await answer).toEqual({ command: 'COPY', rowCount: 3, rows: [] });
  },
);

it('what PostgreSQL says of the row that it refuses is in no error', async () => {
  const { client, asked } = connected();
  const answer = client.query(COPY, [rowsOf('ann\t2\n')]);
  const copy = asked[0]?.[0] as Asked;
  const refused = new DatabaseError('null value', 0, 'error');
  copy.handleError(
    Object.assign(refused, {
      code: '23502',
      where: 'line 1: "ann"',
      detail: 'Failing row contains (ann, 2).',
    }),
  );
  const error = await Promise.resolve(answer).catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: '23502', message: 'null value' });
  expect(error).not.toHaveProperty('where');
  expect(error).not.toHaveProperty('detail');
});

it('tells pg when it is over: the time for its answer is not waited for', () => {
  const { client, asked } = connected();
  void client.query(COPY, [rowsOf('1\t2\n')]);
  const copy = asked[0]?.[0] as Asked & { callback: () => void };
  let over = 0;
  copy.callback = () => (over += 1);
  copy.handleReadyForQuery();
  expect(over).toBe(1);
});

it.each([
  ['without rows', [COPY]],
  ['of another kind', ['SELECT $1', [Buffer.from('1')]]],
  ['out of the database', ['COPY audit_trail TO STDOUT', [Buffer.from('1')]]],
])('a statement %s is left as it is', (_which, query) => {
  const { client, asked } = connected();
  client.query(...query);
  expect(asked).toEqual([query]);
});
