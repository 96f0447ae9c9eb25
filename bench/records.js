// What the records of calls cost: bytes on disk for each, and the processor's time of PostgreSQL and of the gateway.
// With the settings that a gateway has if nothing is said, on a PostgreSQL elsewhere.
import { readFileSync } from 'node:fs';
import { startGateway } from './children.js';
import { number, report } from './measure.js';
import { BODY, withStores } from './stores.js';
import { childrenOf } from '../test/helpers/gateway-process.ts';

const CALLS = 40_000;
const MOST_BYTES = 500;
const IN_FLIGHT = 32;
const TICK_MS = 10;

/** Of the server and everything that serves a connection. Those that have ended count with their parent. */
function cpuMsOf(pid) {
  const own = (id) => {
    try {
      const text = readFileSync(`/proc/${id}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    } catch {
      return 0;
    }
  };
  return [pid, ...childrenOf(pid)].reduce((sum, id) => sum + own(id), 0);
}

async function bytesOf(postgres) {
  await postgres.sql('VACUUM');
  const [{ bytes }] = await postgres.sql(
    `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 AS bytes FROM pg_class c
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname ~ '^(audit|calls)'`,
  );
  return bytes;
}

export async function records() {
  await withStores(async ({ tools, shared: { database }, postgres }) => {
    const gateway = await startGateway({ tools, settings: { database } });
    const [{ pid }] = await postgres.sql(
      `SELECT (regexp_match(pg_read_file('postmaster.pid'), '^\\d+'))[1]::int AS pid`,
    );
    const call = async () => {
      const response = await fetch(`${gateway.url}/v1/tools/echo/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ arguments: BODY }),
      });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`status ${response.status}`);
    };
    const run = async (count) => {
      let left = count;
      const caller = async () => {
        while (left-- > 0) await call();
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
      await gateway.untilShipped();
    };
    await run(5_000);
    const before = { bytes: await bytesOf(postgres), database: cpuMsOf(pid), gateway: gateway.cpuMs() };
    const startedAt = performance.now();
    await run(CALLS);
    const seconds = (performance.now() - startedAt) / 1000;
    const spent = { database: cpuMsOf(pid) - before.database, gateway: gateway.cpuMs() - before.gateway };
    const bytes = (await bytesOf(postgres)) - before.bytes;
    const perCall = bytes / CALLS;
    report(
      'records of a call on disk: heap, TOAST, indexes',
      `${number(perCall)} bytes`,
      `${number(CALLS / seconds)} calls/s, ${number((spent.database / CALLS) * 1000)} µs of PostgreSQL and ${number((spent.gateway / CALLS) * 1000)} µs of the gateway a call`,
      '–',
      `≤ ${MOST_BYTES} bytes`,
      perCall <= MOST_BYTES,
    );
    await gateway.stop();
  });
}
