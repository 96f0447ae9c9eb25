// Primary: a gateway that is told to stop while it starts.
import { expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../../test/helpers/quiet-log.ts';
import type { ForkedSelf } from '../../../infra/process/forked-self.ts';
import { PrometheusMetrics } from '../../../infra/telemetry/prometheus-metrics.ts';
import type { Settings } from '../../../settings/settings-schema.ts';
import { Primary } from './primary.ts';

/** A process whose messages and whose end are the test's. */
interface FakeProcess {
  readonly sent: object[];
  say(message: object): void;
  end(code: number): void;
}

function bench() {
  const forked: FakeProcess[] = [];
  const fork = (_env: object, say: (message: unknown) => void): ForkedSelf => {
    const sent: object[] = [];
    let end: (code: number) => void = () => undefined;
    const exited = new Promise<{ code: number; signal: null }>((resolve) => {
      end = (code) => resolve({ code, signal: null });
    });
    forked.push({ sent, say, end: (code) => end(code) });
    return { pid: forked.length, send: (message) => void sent.push(message), kill: () => undefined, exited };
  };
  const none = { host: '127.0.0.1', http: { port: 0 }, grpc: { port: 0 }, metrics: { port: 0 } };
  const settings = { ...none, role: 'all', auth: { mode: 'keys' } } as unknown as Settings;
  const metrics = new PrometheusMetrics({}, { process: 'primary' });
  const primary = new Primary({ settings, count: 3, clock: new FakeClock(), log: quietLog, metrics, fork });
  const serving = async () => {
    const { text } = await metrics.exposition();
    return /ute_processes\{.*state="serving".*\} (\d+)/.exec(text)?.[1];
  };
  return { primary, forked, serving };
}

it('told to stop while its first process starts, it starts no other, and ends in good order with that one', async () => {
  const { primary, forked, serving } = bench();
  const started = primary.start();
  const stopped = primary.stop();
  expect(await started).toBe(true);
  forked[0]?.say({ ute: 'serving', pipeline: {} });
  expect(await serving()).toBe('0');
  forked[0]?.end(0);
  expect([await stopped, forked.length, forked[0]?.sent]).toEqual([true, 1, [{ ute: 'stop' }]]);
});
