// Approvals over MCP: a client that can send its user somewhere is asked to, and its call goes on once somebody has decided.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['config/tools.yaml'],
    settings: { approvals: { allow_self_approval: true, public_url: 'https://approve.example.com' } },
    more: { colleague: { tenant: 'acme', roles: ['agent'] } },
  });
  await openDatabase(gateway);
});

afterAll(() => gateway?.stop());

interface Asked {
  readonly mode?: string;
  readonly url?: string;
  readonly message: string;
}

const idIn = (url: string) => url.slice(url.lastIndexOf('/') + 1);

async function decide(id: string, decision: 'approve' | 'reject'): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/approvals/${id}/decision`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${gateway.keys.admin.text}` },
    body: JSON.stringify({ decision }),
  });
  expect(response.status).toBe(200);
}

/** `answer`: what the user does with what it is asked. */
async function clientOf(mode: 'auto' | 'legacy', answer: (asked: Asked) => Promise<'accept' | 'decline'>) {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode }, capabilities: { elicitation: { url: {} } } },
  );
  client.setRequestHandler('elicitation/create', async ({ params }) => ({
    action: await answer(params as Asked),
  }));
  const requestInit = { headers: { authorization: `Bearer ${gateway.keys.agent.text}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url), { requestInit }));
  return client;
}

const deletion = (id: string) => ({ name: 'delete_note', arguments: { note_id: id } });

describe.each(['auto', 'legacy'] as const)('the official client, %s', (mode) => {
  it('asks its user, and its call runs once it is approved', async () => {
    const asked: Asked[] = [];
    const client = await clientOf(mode, async (question) => {
      asked.push(question);
      await decide(idIn(question.url ?? ''), 'approve');
      return 'accept';
    });
    const answer = await client.callTool(deletion(mode === 'auto' ? 'note-1' : 'note-2'));
    expect(answer.isError).toBeUndefined();
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ mode: 'url', message: expect.stringContaining('delete_note') });
    expect(asked[0]?.url).toMatch(/^https:\/\/approve\.example\.com\/v1\/approvals\/[0-9a-f-]{36}$/);
    await client.close();
  });

  it('hears that somebody has said no', async () => {
    const client = await clientOf(mode, async ({ url = '' }) => {
      await decide(idIn(url), 'reject');
      return 'accept';
    });
    const answer = await client.callTool(deletion('note-13'));
    expect(answer._meta?.['io.ute/error']).toMatchObject({
      type: 'PERMISSION_DENIED',
      reason: 'APPROVAL_REJECTED',
    });
    await client.close();
  });

  it('makes no call whose user declines to go there', async () => {
    const client = await clientOf(mode, async () => 'decline');
    const { isError, content } = await client.callTool(deletion('note-14'));
    expect([isError, content]).toEqual([true, [{ type: 'text', text: expect.stringContaining('declined') }]]);
    await client.close();
  });
});

describe('the state of a request that was asked about', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
  };
  interface Answer {
    readonly result?: {
      readonly resultType: string;
      readonly requestState?: string;
      readonly inputRequests?: unknown;
      readonly isError?: true;
      readonly _meta: Record<string, { reason?: string }>;
    };
    readonly error?: { readonly code: number };
  }
  async function call(note: string, more: object = {}, key = gateway.keys.agent.text): Promise<Answer> {
    const params = { ...deletion(note), ...more, _meta: META };
    const response = await fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${key}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'delete_note',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    return (await response.json()) as Answer;
  }
  const accepted = (requestState: string) => ({
    requestState,
    inputResponses: { approval: { action: 'accept' } },
  });
  const reasonOf = ({ result }: Answer) => result?._meta['io.ute/error']?.reason;

  it('is good for its principal, tool and arguments alone, and once', async () => {
    const asked = await call('note-21');
    expect(asked.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { approval: { method: 'elicitation/create' } },
    });
    const state = asked.result?.requestState ?? '';
    await decide(state.slice(0, 36), 'approve');
    expect(reasonOf(await call('note-22', accepted(state)))).toBe('APPROVAL_MISMATCH');
    expect(reasonOf(await call('note-21', accepted(state), gateway.key('colleague').key))).toBe(
      'APPROVAL_MISMATCH',
    );
    const forged = `${state.slice(0, -4)}${state.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    expect(reasonOf(await call('note-21', accepted(forged)))).toBe('APPROVAL_UNKNOWN');
    expect(await call('note-21', accepted('nonsense'))).toMatchObject({ error: { code: -32_602 } });
    expect((await call('note-21', accepted(state))).result).toMatchObject({ resultType: 'complete' });
    expect(reasonOf(await call('note-21', accepted(state)))).toBe('APPROVAL_USED');
  });

  it('is held until somebody decides', async () => {
    const asked = await call('note-23');
    const state = asked.result?.requestState ?? '';
    let isOver = false;
    const held = call('note-23', accepted(state)).finally(() => (isOver = true));
    await eventually(async () => {
      const headers = { authorization: `Bearer ${gateway.keys.admin.text}` };
      return (await fetch(`${gateway.url}/v1/approvals/${state.slice(0, 36)}`, { headers })).ok;
    });
    expect(isOver).toBe(false);
    await decide(state.slice(0, 36), 'approve');
    expect((await held).result).toMatchObject({ resultType: 'complete' });
  });
});
