// notifications/cancelled ends the request that it means: of the same session and the same credential, and no other.
import { expect, it } from 'vitest';
import { InFlight } from './in-flight.ts';

function request(id: unknown, session: string | undefined, token: string) {
  const exchange = {
    asked: { id, session, environment: { credential: { kind: 'bearer', token } } },
    cancelled: 0,
    cancel() {
      exchange.cancelled += 1;
    },
  };
  return exchange as typeof exchange & Parameters<InFlight['enter']>[0];
}

it('is cancelled by its own session and credential alone', () => {
  const inFlight = new InFlight();
  const open = request(1, 's', 'key');
  inFlight.enter(open);
  for (const other of [request(1, 't', 'key'), request(1, 's', 'other'), request(1, undefined, 'key')])
    inFlight.cancel(other.asked, 1);
  inFlight.cancel(open.asked, '1');
  inFlight.cancel(open.asked, { id: 1 });
  expect(open.cancelled).toBe(0);
  inFlight.cancel(open.asked, 1);
  expect(open.cancelled).toBe(1);
});

it('one of the same number that came later is not taken out by the end of the first', () => {
  const inFlight = new InFlight();
  const [first, second] = [request(1, 's', 'key'), request(1, 's', 'key')];
  const leaveFirst = inFlight.enter(first);
  const leaveSecond = inFlight.enter(second);
  leaveFirst();
  inFlight.cancel(second.asked, 1);
  expect([first.cancelled, second.cancelled]).toEqual([0, 1]);
  leaveSecond();
  inFlight.cancel(second.asked, 1);
  expect(second.cancelled).toBe(1);
});
