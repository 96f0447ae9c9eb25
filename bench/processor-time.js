// Processor time of a PostgreSQL beside the gateway, by the database that its processes serve.
import { readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const MS_PER_TICK = 10;

/** One process, its threads included and its child processes not. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** Of the processes that serve connections, by database, so far: `{ postgres: 120, gateway: 340 }`. Those that have ended are not in it. */
export async function databaseCpuMs(postgres) {
  const rows = await postgres.sql(
    `SELECT pid, datname FROM pg_stat_activity WHERE backend_type = 'client backend'`,
  );
  const spent = {};
  for (const { pid, datname } of rows) {
    try {
      spent[datname] = (spent[datname] ?? 0) + cpuMs(pid);
    } catch {
      // It has ended since.
    }
  }
  return spent;
}
