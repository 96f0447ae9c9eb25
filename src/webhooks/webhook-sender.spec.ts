// WebhookSender: what becomes of a message by what the other side answers, and what a stop leaves for the next replica.
import { DEFERRED_SERIES } from '../ports/telemetry/series/deferred.ts';
import { describe, expect, it } from 'vitest';
import { storedCall } from '../../test/helpers/async-kit.ts';
import { recordingLog, recordingMetrics } from '../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../test/helpers/fake-clock.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { signedHeaders } from '../lib/secrets/webhook-signature.ts';
import type { DueWebhook } from '../ports/calls/webhook-store.ts';
import type { HttpRequest, HttpResponse } from '../ports/egress/http-client.ts';
import { CallbackRules, type CallbackSettings } from './callback-rules.ts';
import { callMessage } from './call-message.ts';
import { WebhookSender } from './webhook-sender.ts';

const KEY = Buffer.alloc(32, 7);
const SETTINGS: CallbackSettings = {
  allow_hosts: ['host'],
  secret: `whsec_${KEY.toString('base64')}`,
  allow_http: false,
  max_attempts: 3,
  base_delay_ms: 1_000,
  timeout_ms: 5_000,
};
const ENDED = storedCall({ id: 'call-1', status: 'succeeded', finishedAt: new Date('2026-01-02T03:04:05Z') });

function dueAt(changes: Partial<DueWebhook> = {}): DueWebhook {
  return { id: 'hook-1', url: 'https://host/cb?x=1', attempt: 1, call: ENDED, ...changes };
}

function answered(status: number): HttpResponse {
  return { status, headers: {}, body: Buffer.alloc(0) };
}

interface Said {
  readonly answer?: (request: HttpRequest) => Promise<HttpResponse>;
  readonly envelope?: string;
  readonly claimFails?: number;
  readonly claimHangs?: boolean;
  readonly settings?: Partial<CallbackSettings>;
}

function setUp({
  answer = async () => answered(200),
  envelope = '{"ok":true}',
  claimFails = 0,
  claimHangs = false,
  settings = {},
}: Said = {}) {
  const clock = new FakeClock(1_700_000_000_000);
  const log = recordingLog();
  const metrics = recordingMetrics();
  const due: DueWebhook[] = [];
  const requests: HttpRequest[] = [];
  const delivered: string[] = [];
  const failed: { id: string; attempt: number; error: string; next: unknown }[] = [];
  const claims: { limit: number; leaseMs: number }[] = [];
  const sender = new WebhookSender<DueWebhook>({
    outbox: {
      async claim(limit, leaseMs) {
        claims.push({ limit, leaseMs });
        if (claimHangs) return new Promise<never>(() => undefined);
        if (claims.length <= claimFails) throw new Error('the database is away');
        return due.splice(0, limit);
      },
      delivered: async (id) => void delivered.push(id),
      failed: async (id, attempt, error, next) => void failed.push({ id, attempt, error, next }),
    },
    http: {
      request(request) {
        requests.push(request);
        return answer(request);
      },
      fetch: () => fetch,
      close: async () => undefined,
    },
    clock,
    log,
    metrics,
    random: () => 1,
    bodyOf: ({ call }) => callMessage(call, envelope, clock.wall()),
    about: ({ call }) => ({ callId: call.id }),
    counted: DEFERRED_SERIES.ute_webhook_deliveries_total,
    rules: new CallbackRules({ ...SETTINGS, ...settings }),
  });
  const counted = (outcome: string) => metrics.values.get(`ute_webhook_deliveries_total{${outcome}}`) ?? 0;
  async function send(...messages: readonly DueWebhook[]): Promise<void> {
    due.push(...messages);
    sender.wake();
    for (let turn = 0; turn < 5; turn += 1) await settled();
  }
  return { sender, clock, log, due, requests, delivered, failed, claims, counted, send };
}

/** An upstream that says nothing until it is given up. */
const silent = ({ signal }: HttpRequest) =>
  new Promise<HttpResponse>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );

describe('a message', () => {
  it('is signed as its receiver will check it, by its own id, and holds the envelope as the doors send it', async () => {
    const { send, requests, delivered, counted } = setUp({ envelope: '{"ok":true,"data":9007199254740993}' });
    await send(dueAt());
    const [request] = requests;
    const body = String(request?.body ?? '');
    expect(request).toMatchObject({ method: 'POST', origin: 'https://host', path: '/cb?x=1' });
    expect(request?.headers).toMatchObject(
      signedHeaders({ id: 'hook-1', timestamp: 1_700_000_000, body }, [KEY]),
    );
    expect(body).toContain('"result":{"ok":true,"data":9007199254740993}');
    expect(JSON.parse(body)).toMatchObject({
      type: 'call.ended',
      timestamp: '2026-01-02T03:04:05.000Z',
      data: { call_id: 'call-1', tool: 'echo', status: 'succeeded' },
    });
    expect(delivered).toEqual(['hook-1']);
    expect(counted('delivered')).toBe(1);
  });

  it('leaves out a result that is too long, which the receiver asks for', async () => {
    const { send, requests } = setUp({ envelope: JSON.stringify('x'.repeat(300_000)) });
    await send(dueAt());
    expect(JSON.parse(String(requests[0]?.body ?? ''))).toMatchObject({
      data: { call_id: 'call-1', result: null },
    });
  });

  it('goes nowhere that the rules refuse by now, and is given up', async () => {
    const { send, requests, failed } = setUp();
    await send(dueAt({ url: 'https://elsewhere/cb' }));
    expect(requests).toEqual([]);
    expect(failed).toMatchObject([{ id: 'hook-1', next: 'give_up' }]);
  });
});

describe('a message that does not arrive', () => {
  it.each([
    ['an answer that is no success', async () => answered(503), 'answered 503'],
    ['a redirect', async () => answered(302), 'answered 302'],
    [
      'no connection',
      () => Promise.reject(new ToolFailure('UNAVAILABLE', 'secret inside', { reason: 'CONNECT_FAILED' })),
      'CONNECT_FAILED',
    ],
  ])(
    'for %s is tried again, later each time, and what the other side sent is not kept',
    async (_, answer, error) => {
      const { send, failed, counted } = setUp({ answer });
      await send(dueAt({ attempt: 1 }), dueAt({ id: 'hook-2', attempt: 2 }));
      expect(failed).toEqual([
        { id: 'hook-1', attempt: 1, error, next: { afterMs: 1_000 } },
        { id: 'hook-2', attempt: 2, error, next: { afterMs: 3_000 } },
      ]);
      expect(counted('failed')).toBe(2);
    },
  );

  it('is given up at its last attempt, and kept as dead', async () => {
    const { send, failed, counted } = setUp({ answer: async () => answered(500) });
    await send(dueAt({ attempt: 3 }));
    expect(failed).toMatchObject([{ attempt: 3, next: 'give_up' }]);
    expect(counted('given_up')).toBe(1);
  });

  it.each([
    ['410 Gone', async () => answered(410)],
    [
      'an address that may not be called',
      () => Promise.reject(new ToolFailure('PERMANENT', 'no', { reason: 'EGRESS_DENIED' })),
    ],
  ])('for %s is given up at once', async (_, answer) => {
    const { send, failed } = setUp({ answer });
    await send(dueAt());
    expect(failed).toMatchObject([{ attempt: 1, next: 'give_up' }]);
  });

  it('for silence is left at its time', async () => {
    const { send, clock, failed } = setUp({ answer: silent });
    await send(dueAt());
    await clock.advance(4_999);
    expect(failed).toEqual([]);
    await clock.advance(1);
    expect(failed).toMatchObject([{ error: 'no answer within 5000 ms', next: { afterMs: 1_000 } }]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('the sender', () => {
  it('claims some at a time, for longer than one attempt may take, until none is due', async () => {
    const { send, claims, delivered } = setUp();
    await send(...Array.from({ length: 40 }, (_, at) => dueAt({ id: `hook-${at}` })));
    expect(claims.map(({ limit }) => limit)).toEqual([16, 16, 16]);
    expect(claims[0]?.leaseMs).toBeGreaterThan(SETTINGS.timeout_ms);
    expect(delivered).toHaveLength(40);
  });

  it('looks by itself, also after the database was away', async () => {
    const { sender, clock, due, delivered, log } = setUp({ claimFails: 1 });
    sender.start();
    await settled();
    due.push(dueAt());
    expect(log.lines).toMatchObject([
      { level: 'warn', message: 'webhooks could not be read from the database: it is tried again' },
    ]);
    await clock.advance(1_100);
    expect(delivered).toEqual(['hook-1']);
    await sender.stop();
    expect(clock.pendingTimers).toBe(0);
  });

  it('breaks off what it sends when it is stopped, and writes no failure: whoever comes next sends it again', async () => {
    const { sender, send, failed, delivered, claims } = setUp({ answer: silent });
    await send(dueAt());
    await sender.stop();
    expect([failed, delivered]).toEqual([[], []]);
    sender.wake();
    await settled();
    expect(claims).toHaveLength(1);
  });

  it('asks for nothing where nobody may be called back', async () => {
    const { sender, clock, claims } = setUp({ settings: { allow_hosts: [] } });
    sender.start();
    sender.wake();
    await clock.advance(5_000);
    expect(claims).toEqual([]);
  });

  it('stops within a second though the database never answers', async () => {
    const { clock, sender, claims } = setUp({ claimHangs: true });
    sender.start();
    await settled();
    const stopped = sender.stop();
    await clock.advance(1_000);
    await stopped;
    expect(claims).toHaveLength(1);
  });
});
