// ExecuteStream: a call's events as they come, then its response, to a reader who may be slow.
import { Observable } from 'rxjs';
import type { CallEvent, Emit } from '../../../contract/call/tool-call.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import type { CallLife } from '../call-life.ts';
import { EventQueue, type StreamPace } from './event-queue.ts';
import type { PayloadForm } from '../execute/read-request.ts';
import { writeEvent, writeLastEvent, writePartial } from '../execute/write-response.ts';
import { EventWriter, type EventForm } from '../../event-writer.ts';

export interface StreamedCall {
  readonly pace: StreamPace;
  readonly form: PayloadForm;
  /** Runs the call. Rejects for a request that cannot be read. */
  readonly run: (emit: Emit) => Promise<ToolResponse>;
  readonly life: CallLife;
  /** The response, or what is thrown where it ends the call with a gRPC error. */
  readonly answerOf: (response: ToolResponse) => ToolResponse;
  /** The error as the transport sends it. */
  readonly asError: (thrown: unknown) => Error;
}

export function eventForm(form: PayloadForm): EventForm<Uint8Array> {
  return {
    write: (event) => writeEvent(event, form),
    writeLarge: (data) => writePartial(data, form),
  };
}

export function executeStream(call: StreamedCall): Observable<Uint8Array> {
  const { pace, form, run, life, answerOf, asError } = call;
  return new Observable((subscriber) => {
    const fail = (thrown: unknown) => {
      queue.close();
      life.abort();
      subscriber.error(asError(thrown));
    };
    const queue = new EventQueue(pace, {
      send: (message) => subscriber.next(message),
      overflow: () => overflow(),
    });
    const overflow = () => fail(readerTooSlow());
    const push = (message: Uint8Array, mayBeLeftOut: boolean) => queue.push(message, mayBeLeftOut);
    const events = new EventWriter(eventForm(form), { push, overflow, fail });
    const emit = (event: CallEvent) => {
      if (!subscriber.closed) events.write(event);
    };
    const answer = async (response: ToolResponse) => {
      life.settle();
      try {
        await events.settled();
        const last = await writeLastEvent(answerOf(response), form);
        queue.finish(() => {
          subscriber.next(last);
          subscriber.complete();
        });
      } catch (thrown) {
        queue.finish(() => subscriber.error(asError(thrown)));
      }
    };
    run(emit).then(answer, fail);
    return () => queue.close();
  });
}

function readerTooSlow(): ToolFailure {
  return toolFailure('READER_TOO_SLOW', 'Partial results came faster than they were read.', {
    partialSideEffects: true,
  });
}
