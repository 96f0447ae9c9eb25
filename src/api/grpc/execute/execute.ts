// Execute: one message in, one out. On the path of every call, so it goes without Nest's layers between message and core.
import type { handleUnaryCall, ServerUnaryCall, ServiceError } from '@grpc/grpc-js';
import { answerAtEndOfTurn } from '../../../lib/timers/end-of-turn.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { lifeOf } from '../call-life.ts';
import { PacedStarts } from './paced-starts.ts';
import { formOf, readRequest } from './read-request.ts';
import { exceptionFor, exceptionOf, statusCodeOf } from '../rich-error.ts';
import { UNREADABLE, type ExecuteMessage, type Readable } from '../wire-types.ts';
import { writeResponse } from './write-response.ts';

type Message = Readable<ExecuteMessage>;

/** Of all connections: they share one event loop. */
const STARTS = new PacedStarts();

/** Answers that are ready in one turn of the event loop leave together at its end, as REST's do. */
export function executeBy(caller: Pick<ToolCaller, 'execute'>): handleUnaryCall<Message, Uint8Array> {
  return (call, answer) => {
    const refuse = (thrown: unknown) => answer(exceptionFor(thrown).getError() as ServiceError);
    paced(call.request, () => run(caller, call)).then(
      (bytes) => answerAtEndOfTurn(() => answer(null, bytes)),
      refuse,
    );
  };
}

/** Runs a call in its turn among those that arrive together. `begin` does not throw. */
export function paced<Result>(message: Message, begin: () => Promise<Result>): Promise<Result> {
  return STARTS.run(argumentBytesOf(message), begin);
}

function argumentBytesOf(message: Message): number {
  return message === UNREADABLE ? 0 : sizeOf(message.arguments) + sizeOf(message.argumentsJson);
}

/** What was not sent is null. */
const sizeOf = (bytes: Uint8Array | null): number => bytes?.length ?? 0;

async function run(
  caller: Pick<ToolCaller, 'execute'>,
  call: ServerUnaryCall<Message, Uint8Array>,
): Promise<Uint8Array> {
  const { request: message, metadata } = call;
  const life = lifeOf(call);
  const response = await caller.execute(readRequest(message, metadata, life, call));
  life.settle();
  try {
    return await writeResponse(answerTo(message, response), formOf(message));
  } catch (thrown) {
    throw exceptionFor(thrown, response.meta);
  }
}

/** Throws where the envelope's error is a failure of the call and not a tool's own answer. */
export function answerTo(message: Message, response: ToolResponse): ToolResponse {
  if (response.ok || statusCodeOf(response.error) === 0) return response;
  const { callId, tool, attempts, replayed } = response.meta;
  throw exceptionOf(response.error, {
    callId,
    attempts,
    replayed,
    tool: tool !== '' || message === UNREADABLE ? tool : message.tool,
  });
}
