// Calls that run later over gRPC, as over REST: start, get, list, watch, cancel.
import { once } from 'node:events';
import type { Metadata, ServerWritableStream } from '@grpc/grpc-js';
import { Controller, Inject } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import { from, type Observable } from 'rxjs';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import { shuttingDown } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { AwaitedApproval } from '../../../contract/call/tool-response.ts';
import type { AdmitRequest } from '../../../contract/call/admission.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import { nextPage, pageOfHistory } from '../../rest/calls/history-query.ts';
import { calledFor, CallSummary, callsQuery } from '../../rest/calls/schema.ts';
import type { ManagementActs } from '../../rest/management/acts.ts';
import { wire } from '../../rest/route/wire.ts';
import { ASYNC_CALLS, AUTHENTICATOR, CALL_HISTORY, MANAGEMENT_ACTS } from '../../tokens.ts';
import { lifeOf } from '../call-life.ts';
import { answerTo, paced } from '../execute/execute.ts';
import { readRequest } from '../execute/read-request.ts';
import { messageWithoutData } from '../execute/write-response.ts';
import { exceptionFor } from '../rich-error.ts';
import {
  ENCODERS,
  SERVICE,
  UNREADABLE,
  type ByIdMessage,
  type Readable,
  type StartCallMessage,
  type WatchCallMessage,
} from '../wire-types.ts';
import type { Connection } from '../execute/call-metadata.ts';
import { admittedBy, admittedTo, targetIn } from './admitted-caller.ts';
import { callMessage, messageOf } from './call-message.ts';
import { readable, readAs } from './said-fields.ts';
import { answered } from './sessions.controller.ts';

type Stream = ServerWritableStream<unknown, Uint8Array>;

@Controller()
export class CallRpcController {
  constructor(
    @Inject(ASYNC_CALLS) private readonly calls: AsyncCalls,
    @Inject(CALL_HISTORY) private readonly history: CallHistory,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  /** A call like any other: what cannot be read of it is refused behind auth and audit. */
  @GrpcMethod(SERVICE, 'StartCall')
  startCall(message: Readable<StartCallMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const callbackUrl =
        message === UNREADABLE || message.callbackUrl === '' ? undefined : message.callbackUrl;
      const request = this.#withCallback(readRequest(message, metadata, NOBODY_WAITS, call), callbackUrl);
      const response = await paced(message, () =>
        this.calls.accept(request, callbackUrl && hrefOf(callbackUrl)),
      );
      const { acceptedAt = '' } = response.meta;
      const callId = acceptedAt.slice(acceptedAt.lastIndexOf('/') + 1);
      return ENCODERS.StartCall({
        ...messageWithoutData(answerTo(message, response)),
        callId,
        ...(response.ok && statusOf(response.meta.awaited)),
      });
    });
  }

  @GrpcMethod(SERVICE, 'GetCall')
  getCall(message: Readable<ByIdMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(this.authenticator, metadata, call);
      const { id, of } = readById(message);
      const found = await this.calls.get(principal, id, of);
      return ENCODERS.GetCall({ call: callMessage(found, this.calls.envelopeOf(found)) });
    });
  }

  @GrpcMethod(SERVICE, 'ListCalls')
  listCalls(message: Readable<object>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(this.authenticator, metadata, call, 'calls:read');
      const query = readAs(callsQuery, readable(message));
      const { tool, status, error_type: errorType, agent_id: agentId, session_id: sessionId } = query;
      const filter = { tool, status, errorType, agentId, sessionId, from: query.from, to: query.to };
      const { rows, next } = await this.history.calls(principal.tenantId, {
        filter,
        ...pageOfHistory(query),
      });
      const calls = rows.map((call) => messageOf(wire(CallSummary, call)));
      return ENCODERS.ListCalls({ calls, nextPageToken: nextPage(next) });
    });
  }

  @GrpcMethod(SERVICE, 'CancelCall')
  cancelCall(message: Readable<ByIdMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const act = { action: 'calls.cancel', target: targetIn(message), on: 'call' as const, door: 'grpc' };
      const admitted = await admittedTo(act, this.acts, this.authenticator, metadata, call);
      const { id, of } = readById(message);
      const ended = await this.acts.perform(admitted, act, () =>
        this.calls.cancel(admitted.principal, id, of),
      );
      return ENCODERS.CancelCall({ call: callMessage(ended, this.calls.envelopeOf(ended)) });
    });
  }

  @GrpcMethod(SERVICE, 'WatchCall')
  watchCall(message: Readable<WatchCallMessage>, metadata: Metadata, stream: Stream): Observable<Uint8Array> {
    return from(this.#news(message, metadata, stream));
  }

  async *#news(
    message: Readable<WatchCallMessage>,
    metadata: Metadata,
    stream: Stream,
  ): AsyncIterable<Uint8Array> {
    const gone = new AbortController();
    lifeOf(stream).whenGone(() => gone.abort());
    try {
      const admitted = () => admittedBy(this.authenticator, metadata, stream);
      const { principal } = await admitted();
      const { id, of } = readById(message);
      const { afterSeq } = readable(message);
      for await (const news of await this.calls.follow(principal, id, afterSeq, gone.signal, of)) {
        // A credential that was withdrawn since ends the stream.
        await admitted();
        // Nothing is buffered for a reader who is slow.
        if (stream.writableNeedDrain) await once(stream, 'drain', { signal: gone.signal });
        if (news.kind === 'reconnect') throw shuttingDown();
        if (news.kind === 'event') {
          const { seq, kind, data } = news.event;
          yield ENCODERS.WatchCall({ seq, said: { kind, dataJson: JSON.stringify(data) } });
        } else
          yield ENCODERS.WatchCall({
            seq: news.seq,
            end: callMessage(news.call, this.calls.envelopeOf(news.call)),
          });
      }
    } catch (thrown) {
      if (!gone.signal.aborted) throw exceptionFor(thrown);
    } finally {
      gone.abort();
    }
  }

  #withCallback(request: AdmitRequest, url: string | undefined): AdmitRequest {
    if (url === undefined || request.refusal !== undefined) return request;
    try {
      this.calls.checkCallback(url);
      return request;
    } catch (error) {
      if (error instanceof ToolFailure) return { ...request, refusal: error };
      throw error;
    }
  }
}

const NOBODY_WAITS = { timeoutMs: undefined };

function statusOf(awaited: AwaitedApproval | undefined) {
  if (awaited === undefined) return { status: 'accepted' };
  return { status: 'waiting_approval', approvalId: awaited.id, approvalExpiresAt: awaited.expiresAt };
}

/** One that could not be read is refused already. */
function hrefOf(url: string): string {
  return URL.parse(url)?.href ?? url;
}

function readById(message: Readable<ByIdMessage>) {
  const { id, calledFor: said } = readable(message);
  const { agent_id: agentId, user_id: userId, session_id: sessionId } = readAs(calledFor, said ?? {});
  return { id, of: { agentId, userId, sessionId } };
}
