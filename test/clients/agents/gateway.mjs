// The gateway's side of every agent here: the tools as a provider takes them, and answers to what its model asks for.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

const { UTE_URL, UTE_API_KEY } = process.env;
const authorization = `Bearer ${UTE_API_KEY}`;

export const MODEL_URL = process.env.MODEL_URL;
export const STREAM = process.env.STREAM === '1';
export const QUESTION = 'How is Bern? Send the money, and show me a map.';

export async function toolsOf(format) {
  const answer = await fetch(`${UTE_URL}/v1/tools?format=${format}`, { headers: { authorization } });
  return answer.json();
}

/** What is to be appended behind the model's message; waits for people where they have to approve a call. */
export async function answersTo(provider, message) {
  const key = randomUUID();
  let tokens;
  for (;;) {
    const { messages, confirmation_tokens: waiting } = await post(provider, key, {
      message,
      ...(tokens !== undefined && { confirmation_tokens: tokens }),
    });
    if (waiting === undefined) return messages;
    tokens = waiting;
    await pause(200);
  }
}

async function post(provider, key, body) {
  const response = await fetch(`${UTE_URL}/v1/providers/${provider}/tool-calls`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** The test reads the last word from here. */
export function said(text) {
  process.stdout.write(JSON.stringify({ text }));
}
