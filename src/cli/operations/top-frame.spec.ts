// What `ute top` prints of one look.
import { expect, it } from 'vitest';
import { frameOf, type Frame } from './top-frame.ts';

const STATUS = {
  version: '1.2.3',
  replica: 'r1',
  uptime_s: 3_700,
  status: 'degraded',
  parts: { redis: { kind: 'redis', state: 'away' }, database: { kind: 'postgresql', state: 'ok' } },
  calls: { running: 1 },
  memory: { rss_bytes: 150_400_000 },
  cpu: { user_s: 30, system_s: 7 },
  event_loop_lag_ms: 1.25,
  registry: { tools: 12 },
};
const CALL = {
  call_id: 'c1',
  tool: 'send\u001b[2J',
  tenant: 'acme',
  agent: 'front',
  door: 'rest',
  state: 'waiting',
  attempts: 0,
  age_ms: 61_000,
  remaining_ms: 900,
};
const frame = (calls: Frame['running']['calls'], status = STATUS): Frame => ({ status, running: { calls } });

it('names the parts that are not well, what the gateway uses, and each call with its age', () => {
  expect(
    frameOf(frame([CALL]))
      .split('\n')
      .map((line) => line.replaceAll(/ +/g, ' ')),
  ).toEqual([
    'gateway 1.2.3 replica r1 up 1 h 1 min degraded, redis away',
    'running 1 processor 1 % memory 150 MB event loop 1.3 ms late tools 12',
    'CALL TOOL TENANT AGENT DOOR STATE TRY AGE LEFT',
    'c1 send [2J acme front rest waiting 0 1 min 900 ms',
    '',
  ]);
});

it('tells the processor time since the look before, unless another replica answered that', () => {
  const later = { ...STATUS, uptime_s: 3_702, cpu: { user_s: 31, system_s: 7 } };
  expect(frameOf(frame([], later), frame([]))).toContain('processor 50 %');
  expect(frameOf(frame([], { ...later, replica: 'r2' }), frame([]))).toContain('processor 1 %');
});

it('shows as many calls as fit on a screen, and how many more there are', () => {
  const many = Array.from({ length: 45 }, (_, index) => ({ ...CALL, call_id: `c${index}` }));
  expect(frameOf(frame(many))).toContain('and 5 more');
});

it('nothing that a gateway says of itself reaches the terminal as a command', () => {
  const status = {
    ...STATUS,
    version: '1\u001b[2J',
    replica: 'r\nfake',
    parts: { 'p\u009b31m': { state: '\u202e' } },
  };
  const lines = frameOf({ status, running: { calls: [] } }).split('\n');
  expect(lines.filter((line) => /\p{Cc}|\u202e|^fake/u.test(line))).toEqual([]);
});
