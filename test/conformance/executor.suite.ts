// What every executor must keep, whatever runs behind it, seen through a whole gateway.
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

/**
 * A tools file with these tools: `echo` gives back its argument n as {n}; `slow` (timeout_ms 400) and `hang`
 * (timeout_ms 30000) never answer by themselves; `large` answers with more than MAX_RESULT_BYTES; `failing`
 * reports an error of its own; `crash` breaks whatever runs it.
 */
export interface ExecutorHarness {
  readonly tools: string;
  /** Sections of gateway.yaml. */
  readonly settings?: Record<string, unknown>;
  /** A credential that the executor holds and nobody outside may see. */
  readonly secret?: string;
  close(): Promise<void> | void;
}

export const SLOW_TIMEOUT_MS = 400;
export const MAX_RESULT_BYTES = 65_536;

export function describeExecutor(name: string, factory: () => Promise<ExecutorHarness>): void {
  describe(`executor: ${name}`, () => {
    let harness: ExecutorHarness;
    let gateway: RunningGateway;
    let agent: RestTarget;

    beforeAll(async () => {
      harness = await factory();
      // Of a busy machine, the loop is late: no call is refused for that here.
      const limits = { max_result_bytes: MAX_RESULT_BYTES, shed_at_lag_ms: 10_000 };
      const settings = { limits, ...harness.settings };
      gateway = await startGateway({ tools: [harness.tools], settings });
      agent = targetOf(gateway, 'agent');
    });

    afterAll(async () => {
      await gateway?.stop();
      await harness?.close();
    });

    async function stillServes(): Promise<void> {
      expect(await callTool(agent, 'echo', { n: 7 })).toMatchObject({
        status: 200,
        body: { ok: true, data: { n: 7 } },
      });
    }

    it('a call that does not end is a TIMEOUT at its deadline', async () => {
      await stillServes();
      const startedAt = performance.now();
      const { status, body } = await callTool(agent, 'slow');
      const took = performance.now() - startedAt;
      expect({ status, body }).toMatchObject({
        status: 504,
        body: { ok: false, error: { type: 'TIMEOUT' } },
      });
      expect(took).toBeGreaterThanOrEqual(SLOW_TIMEOUT_MS - 20);
      await stillServes();
    });

    it('a call whose caller has gone is given up long before its deadline', async () => {
      const { executor } = gateway.service.gateway;
      const caller = new AbortController();
      const sent = fetch(`${agent.url}/v1/tools/hang/execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
        body: '{}',
        signal: caller.signal,
      });
      await expect.poll(() => executor.inFlight).toBeGreaterThan(0);
      caller.abort();
      await expect(sent).rejects.toThrow('aborted');
      await expect.poll(() => executor.inFlight).toBe(0);
      await stillServes();
    });

    it('a result beyond the cap is refused, not cut', async () => {
      const { body } = await callTool(agent, 'large');
      expect(body).toMatchObject({ ok: false, error: { type: 'OUTPUT_TOO_LARGE', origin: 'tool' } });
      await stillServes();
    });

    it("an error of the tool's own is an answer: HTTP 200 with origin tool", async () => {
      const { status, body } = await callTool(agent, 'failing');
      expect({ status, body }).toMatchObject({ status: 200, body: { ok: false, error: { origin: 'tool' } } });
      expect(body.error?.type).not.toBe('INTERNAL');
    });

    it('a crash in one call is a typed error and disturbs no other', async () => {
      const neighbours = Array.from({ length: 5 }, (_, n) => callTool(agent, 'echo', { n }));
      const { body } = await callTool(agent, 'crash');
      expect(body).toMatchObject({ ok: false, error: { type: expect.any(String) } });
      expect(body.error?.type).not.toBe('INTERNAL');
      const answers = await Promise.all(neighbours);
      expect(answers.map((answer) => answer.body.data)).toEqual(answers.map((_, n) => ({ n })));
      await stillServes();
    });

    it('50 calls at once each get their own answer', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => callTool(agent, 'echo', { n })));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(answers.map(({ body }) => body.data)).toEqual(answers.map((_, n) => ({ n })));
    });

    it('no answer, error or listing shows what the executor holds in secret or where it runs', async () => {
      const answers = await Promise.all(
        ['failing', 'crash', 'large', 'slow'].map((tool) => callTool(agent, tool)),
      );
      const listing = await request<unknown>(agent, 'GET', '/v1/tools');
      const seen = JSON.stringify([answers, listing]);
      const hidden = [harness.secret, dirname(harness.tools)].filter((text) => text !== undefined);
      for (const text of hidden) expect(seen).not.toContain(text);
      expect(seen).not.toContain('implementation_config');
      expect(seen).not.toMatch(/127\.0\.0\.1|Traceback|node:internal/);
    });
  });
}
