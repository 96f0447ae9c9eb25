// Asynchronous calls as a client makes them: accept, look until it has ended, follow the events.
import { UndocumentedAnswer } from './documented.ts';
import { sendTo, type Envelope, type RestTarget, type Sent } from './rest-client.ts';
import { eventually } from './eventually.ts';

export interface CallView {
  readonly id: string;
  readonly status: string;
  readonly error_type: string | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly cancel_requested: boolean;
  readonly result: Envelope | null;
}

/** Where an answer says which call it is about. */
export interface AnswerMeta {
  readonly call_id: string;
  readonly call_url?: string;
  /** Of a call that waits for it. */
  readonly approval_id?: string;
}

export type Accepted = Sent<Envelope & { readonly meta: AnswerMeta & { readonly status?: string } }>;

const CALLS = '/v1/calls/';

/** `body` lies beside the arguments: a callback, a context. */
export function acceptCall(
  target: RestTarget,
  tool: string,
  args: unknown = {},
  body: Record<string, unknown> = {},
): Promise<Accepted> {
  const asked = { arguments: args, ...body };
  return sendTo(target, 'POST', `/v1/tools/${tool}/execute`, asked, { prefer: 'respond-async' });
}

export async function acceptedId(
  target: RestTarget,
  tool: string,
  args?: unknown,
  body?: Record<string, unknown>,
) {
  const answer = await acceptCall(target, tool, args, body);
  if (answer.status !== 202) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`);
  return callIdOf(answer.body.meta);
}

/** A repeat with a key that was used is told of the call that was accepted then; `call_id` names the repeat itself. */
export function callIdOf({ call_id: own, call_url: place }: AnswerMeta): string {
  return place === undefined ? own : place.slice(CALLS.length);
}

export async function callView(target: RestTarget, id: string): Promise<CallView> {
  return (await sendTo<CallView>(target, 'GET', `/v1/calls/${id}`)).body;
}

/** The call once `done` says so. */
export async function callWhen(
  target: RestTarget,
  id: string,
  done: (call: CallView) => boolean = ({ result }) => result !== null,
  withinMs = 30_000,
): Promise<CallView> {
  let call: CallView | undefined;
  const ended = async () => {
    call = await callView(target, id).catch(unlessUndocumented);
    return call !== undefined && done(call) && call;
  };
  return eventually(ended, 'the call', withinMs).catch((error: unknown) => {
    throw new Error(`the call stayed as it was: ${JSON.stringify(call)}`, { cause: error });
  });
}

function unlessUndocumented(error: unknown): undefined {
  if (error instanceof UndocumentedAnswer) throw error;
}

export interface SentEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: unknown;
}

/** Every event until the stream ends, or until `enough` were read: then it goes away. */
export async function followEvents(
  target: RestTarget,
  id: string,
  options: FollowOptions = {},
): Promise<readonly SentEvent[]> {
  return eventsOf(target, `/v1/calls/${id}/events`, options);
}

export interface FollowOptions {
  readonly after?: string;
  readonly enough?: number;
  /** Then it goes away, however few there were. */
  readonly withinMs?: number;
}

/** The same of any stream. */
export async function eventsOf(
  { url, key }: RestTarget,
  path: string,
  { after, enough = Number.POSITIVE_INFINITY, withinMs }: FollowOptions = {},
): Promise<readonly SentEvent[]> {
  const gone = new AbortController();
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, ...(after !== undefined && { 'last-event-id': after }) },
    signal: gone.signal,
  });
  if (response.status !== 200 || response.body === null) throw new Error(`no events: ${response.status}`);
  const events: SentEvent[] = [];
  const late = withinMs === undefined ? undefined : setTimeout(() => gone.abort(), withinMs);
  let text = '';
  try {
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      events.push(...blocks.flatMap(eventOf));
      if (events.length >= enough) break;
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
  clearTimeout(late);
  gone.abort();
  return events;
}

function eventOf(block: string): readonly SentEvent[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  const event = field('event');
  return event === undefined
    ? []
    : [{ id: field('id'), event, data: JSON.parse(field('data') ?? 'null') as unknown }];
}
