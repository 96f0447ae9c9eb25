// examples/python: what its README shows.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readFileSync } from 'node:fs';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const EXAMPLE = join(import.meta.dirname, '../../examples/python');
let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  const { executors } = parse(readFileSync(join(EXAMPLE, 'gateway.yaml'), 'utf8'));
  executors.python.module_paths = [EXAMPLE];
  gateway = await startGateway({ tools: ['examples/python/tools.yaml'], settings: { executors } });
  agent = targetOf(gateway, 'agent');
});

afterAll(() => gateway?.stop());

describe('the python example', () => {
  const orders = [
    { date: '2026-01-05', amount: 20 },
    { date: '2026-02-01', amount: 5 },
  ];

  it('sums up by month', async () => {
    const { body } = await callTool(agent, 'analyse_orders', { orders });
    expect(body).toMatchObject({
      ok: true,
      data: { totals: { '2026-01': 20, '2026-02': 5 }, best: '2026-01' },
    });
  });

  it('converts', async () => {
    expect((await callTool(agent, 'convert_temperature', { celsius: 20 })).body.data).toBe(68);
  });

  it('runs code', async () => {
    const { body } = await callTool(agent, 'execute_code', { code: 'print(1)\nsum(range(10))' });
    expect(body.data).toEqual({
      stdout: '1\n',
      stderr: '',
      output_truncated: false,
      result: 45,
      error: null,
      files: {},
      images: [],
      files_left_out: 0,
    });
  });

  it('shows in a dry run what would be called', async () => {
    const { body } = await request<{ data: { would: unknown } }>(
      agent,
      'POST',
      '/v1/tools/convert_temperature/execute',
      { arguments: { celsius: 20 }, context: { dry_run: true } },
    );
    expect(body.data.would).toEqual({ module: 'orders', function: 'fahrenheit', arguments: { celsius: 20 } });
  });
});
