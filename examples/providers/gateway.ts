// The gateway's side of an agent, the same for every provider: the tools as it takes them, and answers to what its model asks for.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';

const { UTE_URL = 'http://localhost:8080', UTE_API_KEY = '' } = process.env;

export type Provider = 'openai' | 'anthropic';

interface Answered<Message> {
  readonly messages: Message[];
  readonly calls: readonly Envelope[];
  readonly confirmation_tokens?: Readonly<Record<string, string>>;
}

interface Envelope {
  readonly error?: {
    readonly type: string;
    readonly details: { readonly approval_id?: string; readonly approval_url?: string };
  };
  readonly meta: { readonly tool: string };
}

export function toolsFor<Tool>(provider: Provider): Promise<Tool[]> {
  return ask<Tool[]>('GET', `/v1/tools?format=${provider}`);
}

/** What is to be appended behind the model's message; none: it asked for nothing. */
export async function runToolCalls<Message>(provider: Provider, message: object): Promise<Message[]> {
  // The same for every time that this message is sent: what has run is told again, and does not run again.
  const headers = { 'idempotency-key': randomUUID() };
  const path = `/v1/providers/${provider}/tool-calls`;
  let answered = await ask<Answered<Message>>('POST', path, { message }, headers);
  while (answered.confirmation_tokens !== undefined) {
    for (const call of answered.calls) if (call.error?.type === 'CONFIRMATION_REQUIRED') await decide(call);
    const again = { message, confirmation_tokens: answered.confirmation_tokens };
    answered = await ask<Answered<Message>>('POST', path, again, headers);
  }
  return answered.messages;
}

/** Asks at the terminal, for whoever may decide; elsewhere the agent would wait until somebody has. */
async function decide({ error, meta }: Envelope): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const said = await terminal.question(`May it call ${meta.tool}? (y/n) `);
  terminal.close();
  const decision = said.trim().toLowerCase() === 'y' ? 'approve' : 'reject';
  const comment = 'said at the terminal';
  await ask('POST', `/v1/approvals/${error?.details.approval_id}/decision`, { decision, comment });
}

async function ask<Answer>(
  method: string,
  path: string,
  body?: object,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(new URL(path, UTE_URL), {
    method,
    headers: { authorization: `Bearer ${UTE_API_KEY}`, 'content-type': 'application/json', ...more },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}
