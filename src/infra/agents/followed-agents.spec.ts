// FollowedAgents: what the database says is in force within seconds, and what was known stays so while it is away.
import { beforeEach, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { AgentsInForce, AgentToolConfig } from '../../ports/agents/agent-store.ts';
import { FollowedAgents } from './followed-agents.ts';

const configured = (changes: Partial<AgentToolConfig> = {}): AgentToolConfig => ({
  tenantId: 'acme',
  agent: 'desk',
  tool: 'mail',
  isEnabled: true,
  config: {},
  sealed: {},
  schemaHash: '',
  revision: 1,
  ...changes,
});
const DESK = { tenantId: 'acme', name: 'desk' };

let clock: FakeClock;
let inForce: AgentsInForce;
let away: boolean;
let reads: number;
let followed: FollowedAgents;
const metrics = recordingMetrics();

beforeEach(() => {
  [clock, away, reads] = [new FakeClock(), false, 0];
  inForce = { generation: 1, agents: [DESK], tools: [configured()], changed: [configured()] };
  const gauge = (name: string) => metrics.gauge({ name, help: name }).with();
  followed = new FollowedAgents({
    store: {
      generation: async () => {
        if (away) throw new Error('away');
        return inForce.generation;
      },
      inForce: async () => {
        reads += 1;
        return inForce;
      },
    },
    clock,
    log: recordingLog(),
    unread: gauge('unread'),
    count: gauge('count'),
  });
});

const find = () => followed.find('acme', 'desk');

it('knows them once it has started, of one tenant apart from another, and does not start without them', async () => {
  expect(followed.isEmpty).toBe(true);
  await followed.start();
  expect(find()?.tools.get('mail')).toEqual(configured());
  expect(followed.find('umbrella', 'desk')).toBeUndefined();
  expect(metrics.values.get('count')).toBe(1);
  away = true;
  const refused = followed.start().catch((error: Error) => error.message);
  await clock.advance(11_000);
  expect(await refused).toContain('away');
  followed.stop();
});

it('reads no more than what has changed, and keeps the rest as it is', async () => {
  await followed.start();
  const before = find()?.tools.get('mail');
  await clock.advance(3_000);
  expect(reads).toBe(1);
  const fresh = configured({ tool: 'call', revision: 2 });
  inForce = { ...inForce, generation: 2, tools: [configured(), fresh], changed: [fresh] };
  await clock.advance(2_000);
  expect([...(find()?.tools.values() ?? [])]).toEqual([before, fresh]);
  expect(find()?.tools.get('mail')).toBe(before);
  inForce = { ...inForce, generation: 3, tools: [fresh], changed: [] };
  await clock.advance(2_000);
  expect([...(find()?.tools.keys() ?? [])]).toEqual(['call']);
  inForce = { generation: 4, agents: [], tools: [], changed: [] };
  await clock.advance(2_000);
  expect(followed.isEmpty).toBe(true);
  followed.stop();
});

it('keeps what it knows while the database is away, tells so, and follows again', async () => {
  await followed.start();
  away = true;
  await clock.advance(2_000);
  expect([followed.isAway, metrics.values.get('unread'), find()?.tools.size]).toEqual([true, 1, 1]);
  away = false;
  inForce = { generation: 2, agents: [], tools: [], changed: [] };
  await clock.advance(2_000);
  expect([followed.isAway, metrics.values.get('unread'), followed.isEmpty]).toEqual([false, 0, true]);
  followed.stop();
});

it('looks no more once it is stopped, whatever a statement under way brings', async () => {
  await followed.start();
  inForce = { generation: 2, agents: [], tools: [], changed: [] };
  const looking = followed.check();
  followed.stop();
  await looking;
  await clock.advance(5_000);
  await settled();
  expect(find()?.tools.size).toBe(1);
});
