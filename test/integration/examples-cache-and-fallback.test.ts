// examples/cache-and-fallback: what its README shows.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../../src/cli/run.ts';
import { request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const FOLDER = 'examples/cache-and-fallback';
let gateway: RunningGateway;

beforeAll(async () => {
  const { extensions } = parse(readFileSync(`${FOLDER}/gateway.yaml`, 'utf8')) as { extensions: unknown };
  gateway = await startGateway({ tools: [`${FOLDER}/tools.yaml`], settings: { extensions } });
});

afterAll(() => gateway?.stop());

async function call(tool: string, args: object, context?: object) {
  const body = { arguments: args, context };
  return (await request<object>(targetOf(gateway, 'agent'), 'POST', `/v1/tools/${tool}/execute`, body)).body;
}

describe('the cache-and-fallback example', () => {
  it('looks a policy up once', async () => {
    const data = {
      topic: 'cancellation',
      policy: 'Cancellations within 24 hours incur a 50% fee.',
      lookups: 1,
    };
    expect(await call('get_policies', { topic: 'cancellation' })).toMatchObject({
      data,
      meta: { cached: false },
    });
    expect(await call('get_policies', { topic: 'cancellation' })).toMatchObject({
      data,
      meta: { cached: true },
    });
  });

  it("gives the gateway's sentence for a booking that is late", async () => {
    const message = "I'm having trouble pulling that up right now. Would you like me to take a message?";
    expect(await call('get_latest_booking', { customer_phone: '1', slow: true })).toMatchObject({
      ok: true,
      data: { message },
      meta: { fallback: true },
    });
  });

  it('gives a booking again within its session', async () => {
    const context = { session_id: 'call-1' };
    const data = { phone: '1', status: 'confirmed' };
    expect(await call('get_latest_booking', { customer_phone: '1' }, context)).toMatchObject({ data });
    const again = await call('get_latest_booking', { customer_phone: '1' }, context);
    expect(again).toMatchObject({ data, meta: { cached: true } });
    const other = await call('get_latest_booking', { customer_phone: '1' }, { session_id: 'call-2' });
    expect(other).toMatchObject({ data, meta: { cached: false } });
  });

  it('is found good by ute validate, with what its gateway.yaml gives to all tools', async () => {
    let out = '';
    const write = (text: string) => void (out += text);
    const io = {
      stdout: write,
      stderr: write,
      cwd: process.cwd(),
      env: {},
      fetch,
      readStdin: async () => '',
    };
    expect([await run(['validate', '--config', `${FOLDER}/gateway.yaml`], io), out]).toEqual([
      0,
      'ok: 3 tools\n',
    ]);
  });

  it('gives the safe answer of the tool itself', async () => {
    expect(await call('get_faqs', { topic: 'parking' })).toMatchObject({
      data: { topic: 'parking', answer: 'I do not know about parking yet. Shall I ask?' },
      meta: { fallback: true },
    });
  });
});
