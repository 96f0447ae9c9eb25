// Messages are counted by what they ask for and how they end; a client that thinks of methods makes no series.
import { expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../../test/helpers/call-kit.ts';
import type { Ended } from '../protocol/exchange.ts';
import { DoorTelemetry } from './door-telemetry.ts';

function setUp() {
  const metrics = recordingMetrics();
  const telemetry = new DoorTelemetry({ metrics, log: recordingLog() });
  const answered = async (method: string, ended: Ended) => {
    const asked = { era: 'legacy', version: '', environment: { traced: {} }, session: undefined };
    const exchange = { asked, ended, trace: undefined };
    await telemetry.around({ jsonrpc: '2.0', id: 1, method }, exchange as never, () => Promise.resolve());
    return exchange;
  };
  const counted = () => [...metrics.values].filter(([name]) => name.includes('requests_total'));
  return { telemetry, metrics, answered, counted };
}

it('each request counts once, by method and outcome, and its time is taken', async () => {
  const { answered, counted, metrics } = setUp();
  await answered('tools/call', { outcome: 'ok' });
  await answered('tools/call', { outcome: 'tool_error' });
  await answered('tools/call', { outcome: 'tool_error' });
  await answered('tasks/get', { outcome: 'error', code: -32_602 });
  expect(counted()).toEqual([
    ['ute_mcp_door_requests_total{tools/call,ok}', 1],
    ['ute_mcp_door_requests_total{tools/call,tool_error}', 2],
    ['ute_mcp_door_requests_total{tasks/get,error}', 1],
  ]);
  expect(metrics.values.get('ute_mcp_door_request_duration_seconds{tools/call}')).toBe(3);
});

it('methods that nobody knows are one series, whatever they are called', async () => {
  const { answered, counted } = setUp();
  for (let each = 0; each < 50; each += 1) await answered(`made/up/${each}`, { outcome: 'error' });
  expect(counted()).toEqual([['ute_mcp_door_requests_total{_other,error}', 50]]);
});

it('one that fails inside is counted all the same', async () => {
  const { telemetry, counted } = setUp();
  const asked = { era: 'modern', version: '', environment: { traced: {} } };
  const exchange = { asked, ended: { outcome: 'cancelled' } } as never;
  const failing = telemetry.around({ jsonrpc: '2.0', id: 1, method: 'ping' }, exchange, () =>
    Promise.reject(new Error('no server')),
  );
  await expect(failing).rejects.toThrow('no server');
  expect(counted()).toEqual([['ute_mcp_door_requests_total{ping,cancelled}', 1]]);
});

it('sessions that begin are counted, and no others', async () => {
  const { answered, metrics } = setUp();
  await answered('initialize', { outcome: 'ok' });
  await answered('initialize', { outcome: 'error' });
  expect(metrics.values.get('ute_mcp_door_sessions_total')).toBe(1);
});

it('without somebody who records traces a request belongs to none', async () => {
  const { answered } = setUp();
  expect((await answered('tools/call', { outcome: 'ok' })).trace).toBeUndefined();
});
