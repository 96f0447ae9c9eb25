// examples/sql as its README tells it: two businesses, one table, nothing in between.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callTool, targetOf } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ tools: [resolve('examples/sql/tools.yaml')] });
});
afterAll(() => gateway?.stop());

it('each business finds its own bookings, and cannot ask for more', async () => {
  const acme = targetOf(gateway, 'agent');
  const umbrella = targetOf(gateway, 'other');
  const a = await callTool(acme, 'bookings.find', { guest: 'a' });
  expect(a.body.data).toMatchObject({
    row_count: 2,
    rows: [{ guest: 'Ada Lovelace' }, { guest: 'Alan Turing' }],
  });
  const b = await callTool(umbrella, 'bookings.find', { guest: 'a' });
  expect(b.body.data).toMatchObject({ rows: [{ guest: 'Grace Hopper', starts_at: '2026-12-01T09:00:00Z' }] });
  const hostile = await callTool(acme, 'bookings.find', { guest: "' OR tenant_id = 'umbrella" });
  expect(hostile.body).toMatchObject({ ok: true, data: { rows: [], row_count: 0 } });
});

it('what one business writes is its own', async () => {
  const booked = { guest: 'Edsger Dijkstra', starts_at: '2027-01-05T14:00:00Z' };
  const made = await callTool(targetOf(gateway, 'agent'), 'bookings.create', booked);
  expect(made.body).toMatchObject({ ok: true, data: booked });
  const latest = async (who: 'agent' | 'other') =>
    (await callTool(targetOf(gateway, who), 'bookings.latest')).body.data;
  expect(await latest('agent')).toMatchObject(booked);
  expect(await latest('other')).toMatchObject({ guest: 'Grace Hopper' });
});

it.each([
  ['ENABLE', 'row-level security is off'],
  ['FORCE', 'row-level security is not forced'],
])(
  'without the line %s of its schema the tools are not loaded, and the reason is told',
  async (word, reason) => {
    const dir = tempDir();
    try {
      cpSync(resolve('examples/sql'), dir, { recursive: true });
      const schema = join(dir, 'schema.sql');
      const text = readFileSync(schema, 'utf8');
      const line = `ALTER TABLE bookings ${word} ROW LEVEL SECURITY;\n`;
      expect(text).toContain(line);
      writeFileSync(schema, text.replace(line, ''));
      const told = await startGateway({ tools: [join(dir, 'tools.yaml')] }).then(
        async (started) => (await started.stop(), 'it was loaded'),
        (error: { problems?: readonly { message: string }[] }) =>
          (error.problems ?? []).map(({ message }) => message).join('\n'),
      );
      expect(told).toContain(reason);
    } finally {
      removeDir(dir);
    }
  },
);
