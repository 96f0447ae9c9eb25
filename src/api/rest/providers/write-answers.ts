// Writes what the calls of a message came back with: the messages to append in the provider's form, and the envelopes.
import type { FastifyReply } from 'fastify';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import type { ModelMessage } from '../../../formats/messages/model-message.ts';
import { resultParts } from '../../../formats/messages/result-parts.ts';
import { Slices } from '../../../lib/concurrency/in-slices.ts';
import { stringifyInSlices } from '../../../lib/large-json/write-json.ts';
import { envelopeJson, sendPieces } from '../execute/write-envelope.ts';
import type { AskedCall } from './read-message.ts';

export interface AnsweredCall {
  readonly call: AskedCall;
  readonly response: ToolResponse;
}

export interface WrittenAnswers {
  /** Results of which a model is shown a part. */
  readonly cut: number;
  readonly waiting: number;
  readonly failed: number;
}

export async function sendAnswers(
  reply: FastifyReply,
  { answers, finish }: ModelMessage,
  answered: readonly AnsweredCall[],
  mostText: number,
): Promise<WrittenAnswers> {
  const slices = new Slices();
  const entries: string[] = [];
  let cut = 0;
  for (const { call, response } of answered) {
    await slices.next();
    const { parts, isCut } = resultParts(response, answers.files, mostText);
    const entry = answers.entry({ name: call.name, id: call.id, isError: !response.ok, parts });
    entries.push(await stringifyInSlices(entry));
    if (isCut) cut += 1;
  }
  const tokens = tokensOf(answered);
  const waiting = Object.keys(tokens).length;
  const envelopes = answered.map(({ response }) => envelopeJson(response));
  sendPieces(reply, [
    `{"finish_reason":"${finish}","messages":`,
    ...framed(entries, answers.frame),
    ',"calls":[',
    ...commaed(envelopes),
    waiting === 0 ? ']}' : `],"confirmation_tokens":${JSON.stringify(tokens)}}`,
  ]);
  return { cut, waiting, failed: answered.filter(({ response }) => !response.ok).length - waiting };
}

function framed(entries: readonly string[], [before, behind]: readonly [string, string]): readonly string[] {
  return entries.length === 0 ? ['[]'] : [before, ...commaed(entries), behind];
}

function commaed(texts: readonly string[]): readonly string[] {
  return texts.map((text, index) => (index === 0 ? text : `,${text}`));
}

/** Of those that wait for a human: the one that was given now, or the one that the call came with. */
function tokensOf(answered: readonly AnsweredCall[]): { readonly [key: string]: string } {
  const waiting = answered.flatMap(({ call, response }) => {
    if (response.ok || response.error.type !== 'CONFIRMATION_REQUIRED') return [];
    const { confirmation_token: given = call.token } = response.error.details;
    return typeof given === 'string' ? [[call.key, given] as const] : [];
  });
  return Object.fromEntries(waiting);
}
