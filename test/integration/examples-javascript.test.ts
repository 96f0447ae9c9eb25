// examples/javascript: what its README shows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../tools/handlers/handler.d.ts';
import type { HandlerContext } from '../../src/executors/javascript/handler-context.ts';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

/** The compiler's word that handlers get what handler.d.ts promises to their authors. */
export const asPromised = (given: HandlerContext): Context => given;

let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['examples/javascript/tools.yaml'],
    settings: { executors: { javascript: { workers: 2, max_old_generation_mb: 64 } } },
  });
  agent = targetOf(gateway, 'agent');
});

afterAll(() => gateway?.stop());

describe('the javascript example', () => {
  it('quotes a price with the rate of another tool', async () => {
    const { body } = await callTool(agent, 'quote', { items: ['desk', 'lamp'], currency: 'USD' });
    expect(body).toMatchObject({ ok: true, data: { currency: 'USD', total: 291.6 } });
  });

  it('counts vowels', async () => {
    expect((await callTool(agent, 'count_vowels', { text: 'worker thread' })).body.data).toEqual({
      vowels: 4,
    });
  });

  it('ends a loop that never ends, and serves the next call', async () => {
    expect((await callTool(agent, 'stuck', { n: 3 })).body.error?.type).toBe('TIMEOUT');
    expect((await callTool(agent, 'stuck', { n: 8 })).body.data).toBe(1);
  });

  it('shows in a dry run which function would get what', async () => {
    const { body } = await request<{ data: unknown }>(agent, 'POST', '/v1/tools/stuck/execute', {
      arguments: { n: 3 },
      context: { dry_run: true },
    });
    expect(body.data).toMatchObject({
      dry_run: true,
      would: { handler: './quotes.js', export: 'stuck', arguments: { n: 3 } },
    });
  });
});
