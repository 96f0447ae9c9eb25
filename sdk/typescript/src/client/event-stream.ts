// Follows a stream of events over lost connections: from the last id on, until whoever reads has had enough.
import { ConnectionError } from '../errors/gateway-error.ts';
import type { Deadline } from './deadline.ts';
import { EventParser, type ServerEvent } from './sse.ts';
import { problemOf, type Transport } from './transport.ts';

/** The gateway says that it is there every 15 seconds. */
const SILENT_MS = 45_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 10_000;

export interface Followed {
  readonly path: string;
  readonly lastEventId?: string | undefined;
  readonly deadline: Deadline;
  /** Connections in a row that may bring nothing. */
  readonly maxFailures?: number;
}

/** Ends only with the reader, the deadline or a refusal: a stream that breaks off is taken up again. */
export async function* followEvents(transport: Transport, followed: Followed): AsyncGenerator<ServerEvent> {
  const { deadline, path, maxFailures = 8 } = followed;
  let lastId = followed.lastEventId;
  let failures = 0;
  for (;;) {
    let retryMs = FIRST_DELAY_MS * 2 ** Math.min(failures, 6);
    try {
      const parser = new EventParser();
      for await (const event of readOnce(transport, path, lastId, deadline, parser)) {
        failures = 0;
        lastId = event.id ?? lastId;
        if (event.event === 'reconnect') break;
        yield event;
      }
      retryMs = Math.max(retryMs, parser.retryMs ?? 0);
      failures += 1;
      if (failures > maxFailures)
        throw new Error('The stream of events ends again and again without an event.');
    } catch (error) {
      deadline.throwIfOver(error);
      if (!(error instanceof ConnectionError) || !mayComeAgain(error)) throw error;
      failures += 1;
      if (failures > maxFailures) throw error;
      retryMs = Math.max(retryMs, error.retryAfterMs ?? 0);
    }
    await deadline.pause(Math.min(retryMs, MAX_DELAY_MS));
  }
}

const mayComeAgain = ({ status }: ConnectionError) => status === undefined || status === 429 || status >= 500;

async function* readOnce(
  transport: Transport,
  path: string,
  lastId: string | undefined,
  deadline: Deadline,
  parser: EventParser,
): AsyncGenerator<ServerEvent> {
  const silence = new AbortController();
  const signal = AbortSignal.any([deadline.signal, silence.signal]);
  let timer = setTimeout(() => silence.abort(), SILENT_MS);
  try {
    const headers = { accept: 'text/event-stream', 'last-event-id': lastId };
    const response = await transport.open({ method: 'GET', path, headers, signal });
    if (!response.ok || response.body === null) throw await refusalOf(response);
    const decoder = new TextDecoder();
    const reader = response.body.getReader();
    for (let read = await reader.read(); read.value !== undefined; read = await reader.read()) {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENT_MS);
      yield* parser.push(decoder.decode(read.value, { stream: true }));
    }
  } catch (error) {
    deadline.throwIfOver(error);
    if (isOfGateway(error)) throw error;
    throw new ConnectionError('The stream of events broke off.', { cause: error });
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

async function refusalOf(response: Response): Promise<Error> {
  const { status, headers } = response;
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = text;
  }
  const problem = problemOf({ status, headers, body });
  if (problem instanceof ConnectionError) return problem;
  // A replica that stops, or a database that is away: another try may find it.
  return problem.retryable && status >= 429
    ? new ConnectionError(problem.message, { status, retryAfterMs: problem.retryAfterMs, cause: problem })
    : problem;
}

function isOfGateway(error: unknown): boolean {
  return (
    error instanceof RangeError ||
    (error instanceof Error &&
      ('type' in error || (error instanceof ConnectionError && error.status !== undefined)))
  );
}
