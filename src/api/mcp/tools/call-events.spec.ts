// Progress grows whatever tools say; log messages go to those who asked, from their level on.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CallEvent } from '../../../contract/call/tool-call.ts';
import { emitTo, type WantedEvents } from './call-events.ts';

interface Told {
  readonly method: string;
  readonly params?: Record<string, unknown> | undefined;
  readonly mayBeLeftOut: boolean | undefined;
}

function told(wanted: Partial<WantedEvents>, events: readonly CallEvent[], takesEvents = true): Told[] {
  const seen: Told[] = [];
  const exchange = {
    asked: { takesEvents },
    notify: ({ method, params }: { method: string; params?: object }, mayBeLeftOut?: boolean) =>
      void seen.push({ method, params: params as Record<string, unknown>, mayBeLeftOut }),
  };
  const emit = emitTo(exchange as never, { progressToken: undefined, logLevel: undefined, ...wanted });
  for (const event of events) emit?.(event);
  return seen;
}

const EVENTS: readonly CallEvent[] = [
  { kind: 'progress', fraction: 0.5, message: 'half' },
  { kind: 'log', level: 'warn', message: 'hm' },
  { kind: 'partial', data: [1] },
];

it('a client that asked for nothing, or takes no stream, is told nothing', () => {
  expect(told({}, EVENTS)).toEqual([]);
  expect(told({ progressToken: 't', logLevel: 'debug' }, EVENTS, false)).toEqual([]);
});

it('progress and partial results go to who gave a token, and no partial result is left out', () => {
  expect(told({ progressToken: 7 }, EVENTS)).toEqual([
    {
      method: 'notifications/progress',
      params: { progressToken: 7, progress: 0.5, total: 1, message: 'half' },
      mayBeLeftOut: true,
    },
    {
      method: 'notifications/progress',
      params: { progressToken: 7, progress: 0.500_001, total: 1, _meta: { 'io.ute/partial': [1] } },
      mayBeLeftOut: false,
    },
  ]);
});

it('log messages go to who asked for them, from that level on', () => {
  const levels = (logLevel: string) => told({ logLevel }, EVENTS).map(({ params }) => params?.['level']);
  expect(levels('notice')).toEqual(['warning']);
  expect(levels('error')).toEqual([]);
  expect(levels('loud')).toEqual([]);
});

it('progress grows with each notification, whatever a tool says', () => {
  const events = fc.array(
    fc.record({
      kind: fc.constant('progress' as const),
      fraction: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
    }),
  );
  fc.assert(
    fc.property(events, (said) => {
      const values = told({ progressToken: 't' }, said as CallEvent[]).map(({ params }) =>
        Number(params?.['progress']),
      );
      expect(values.every((value, at) => at === 0 || value > Number(values[at - 1]))).toBe(true);
    }),
  );
});
