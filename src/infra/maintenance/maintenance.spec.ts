// Specs of Maintenance: when it runs and what it makes of failures. What it does is shown on real databases.
import { describe, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { GatewayDatabase } from '../postgres/gateway-database.ts';
import { Maintenance } from './maintenance.ts';

class CountedDatabase extends GatewayDatabase {
  asked = 0;

  override opened(): ReturnType<GatewayDatabase['opened']> {
    this.asked += 1;
    return Promise.reject(new Error('away'));
  }
}

function started() {
  const clock = new FakeClock();
  const log = recordingLog();
  const database = new CountedDatabase(
    {
      kind: 'embedded',
      server: {
        pool: () => Promise.reject(new Error('away')),
        writerPool: () => Promise.reject(new Error('away')),
      },
      poolSize: 1,
      migrate: true,
    },
    { clock, log },
  );
  const retention = { calls: 1, callEvents: 1, audit: 1, approvals: 1, revokedKeys: 1, sessions: 1 };
  const maintenance = new Maintenance({
    database,
    gateway: 'own',
    behindMs: () => 0,
    takeInRecords: () => Promise.resolve(),
    makeCheckpoints: () => Promise.resolve(),
    retention,
    clock,
    log,
    metrics: recordingMetrics(),
    random: () => 0.5,
  });
  maintenance.start();
  return { clock, log, database, maintenance };
}

describe('Maintenance', () => {
  it('gives a sign of life every five seconds, looks for lost calls every fifteen seconds, for old rows every minute, and goes on after a failure', async () => {
    const { clock, database, log } = started();
    await clock.advance(60_000);
    expect(database.asked).toBe(17);
    expect(log.lines.every(({ level }) => level === 'warn')).toBe(true);
    await clock.advance(600_000);
    expect(database.asked).toBe(187);
  });

  it('is still when it was stopped', async () => {
    const { clock, database, maintenance } = started();
    await maintenance.stop();
    await clock.advance(3_600_000);
    expect(database.asked).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });
});
