// D10, what the first design notes named for later: analytics, through a running gateway.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../helpers/open-database.ts';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TOOLS = `
tools:
  - name: weather
    description: The weather of a city
    tool_type: javascript
    input_schema: { type: object, properties: { city: { type: string } }, required: [city], additionalProperties: false }
    implementation_config: { handler: ./weather.js, trusted: true }
    metadata: { category: retrieval, cost: 0.5 }
  - name: never
    description: Nobody calls it
    tool_type: javascript
    input_schema: { type: object }
    implementation_config: { handler: ./weather.js, trusted: true }
`;
const WEATHER = `export function execute({ city }) {
  if (city === 'nowhere') throw new Error('no such city');
  return { city, sky: 'clear' };
}
`;

let dir: string;
let gateway: RunningGateway;
let platform: RestTarget;
let acme: RestTarget;
let umbrella: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'tools.yaml'), TOOLS);
  writeFileSync(join(dir, 'weather.js'), WEATHER);
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    more: {
      platform: { roles: ['platform_admin'] },
      acme: { tenant: 'acme', roles: ['admin'], user: 'ann' },
      umbrella: { tenant: 'umbrella', roles: ['admin'], user: 'uma' },
    },
  });
  await openDatabase(gateway);
  [platform, acme, umbrella] = [gateway.key('platform'), gateway.key('acme'), gateway.key('umbrella')];
}, 120_000);

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

interface Figures {
  readonly totals: { readonly calls: number };
  readonly tools: readonly { readonly tool: string }[];
  readonly never_called: readonly string[];
}
const analytics = (who: RestTarget, query = '') => request<Figures>(who, 'GET', `/v1/analytics${query}`);

describe('tool analytics', () => {
  it('which tools are used most, what they cost, what fails and why, and what is never called', async () => {
    for (const city of ['Oslo', 'Bergen', 'nowhere']) await callTool(acme, 'weather', { city });
    await callTool(acme, 'weather', {});
    await callTool(acme, 'weathr', {});
    const { status, body } = await analytics(acme);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      tenant: 'acme',
      complete: true,
      totals: { calls: 5, succeeded: 2, failed: 3, ran: 3, cost: 1.5 },
      tools: [{ tool: 'weather', calls: 4, succeeded: 2, failed: 2, ran: 3, cost: 1.5 }],
      agents: [{ agent_id: '', calls: 5 }],
      days: [{ calls: 5 }],
      never_called: ['never'],
    });
    expect(body).toMatchObject({
      failures: expect.arrayContaining([
        expect.objectContaining({ tool: 'weather', error_type: 'PERMANENT', reason: 'EXCEPTION', calls: 1 }),
        expect.objectContaining({ tool: 'weather', error_type: 'VALIDATION', reason: 'SCHEMA_MISMATCH' }),
        expect.objectContaining({ tool: '', error_type: 'NOT_FOUND', reason: 'TOOL_NOT_FOUND', calls: 1 }),
      ]) as unknown,
    });
  });

  it('are those of the own tenant; the platform asks for any, and has to name one', async () => {
    expect((await analytics(umbrella)).body.totals.calls).toBe(0);
    expect(await analytics(umbrella, '?tenant=acme')).toMatchObject({
      status: 403,
      body: { reason: 'TENANT_MISMATCH' },
    });
    const named = { ...umbrella, tenant: 'acme' };
    expect((await analytics(named)).status).toBe(403);
    expect(await analytics(platform)).toMatchObject({ status: 400, body: { reason: 'TENANT_REQUIRED' } });
    expect((await analytics(platform, '?tenant=acme')).body.totals.calls).toBe(5);
    expect((await analytics(targetOf(gateway, 'agent'))).status).toBe(403);
  });

  it('of a time that is too long, or of a parameter that there is none of, are refused', async () => {
    const long = await analytics(acme, '?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z');
    expect(long.status).toBe(400);
    expect((await analytics(acme, '?form=2026-01-01T00:00:00Z')).status).toBe(400);
    const early = await analytics(acme, '?from=0001-01-01T00:00:00Z&to=0001-01-31T00:00:00Z');
    expect(early).toMatchObject({ status: 200, body: { totals: { calls: 0 } } });
    const late = await analytics(acme, '?from=9999-12-01T00:00:00Z&to=9999-12-31T00:00:00Z');
    expect(late).toMatchObject({ status: 200, body: { totals: { calls: 0 } } });
  });
});
