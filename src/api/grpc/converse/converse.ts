// Converse: a stream that pauses at calls, over gRPC. A call of gRPC is its line; nothing else differs from a WebSocket.
import type { handleBidiStreamingCall, Metadata, ServerDuplexStream } from '@grpc/grpc-js';
import { shuttingDown, toolFailure } from '../../../contract/call/failure.ts';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Close, Line } from '../../stream/line.ts';
import type { ConnectionMessage, StreamMessage } from '../../stream/messages/server-messages.ts';
import type { StreamHub } from '../../stream/stream-hub.ts';
import { Visit, type Shown } from '../../stream/visit.ts';
import { addressOf, checkMetadataSize, credentialOf, tenantOf } from '../execute/call-metadata.ts';
import { exceptionFor } from '../rich-error.ts';
import type { ConverseMessage, Readable } from '../wire-types.ts';
import { readConverse } from './read-converse.ts';
import { writeConverse } from './write-converse.ts';

type Message = Readable<ConverseMessage>;
type Call = ServerDuplexStream<Message, Uint8Array>;

/** A reader that takes nothing for so long is gone. */
const STUCK_MS = 30_000;
/** Of a cancelled call grpc-js says first that it has ended. */
const CANCELLED_WITHIN_MS = 100;

export function converseBy(hub: StreamHub): handleBidiStreamingCall<Message, Uint8Array> {
  return (call) => {
    const line = new GrpcLine(call, hub);
    // Nothing is read before it is known who is there.
    call.pause();
    admit(call.metadata, call, hub).then(
      (shown) => serve(call, line, hub, shown),
      (error: unknown) => line.fail(error),
    );
  };
}

/** Rejects with ToolFailure. Which of its tenants a credential means, the first message may say. */
async function admit(metadata: Metadata, call: Call, hub: StreamHub): Promise<Shown> {
  if (hub.isDraining) throw shuttingDown();
  checkMetadataSize(metadata);
  const shown = {
    credential: credentialOf(metadata, call),
    from: addressOf(metadata, call),
    tenantId: tenantOf(metadata),
  };
  try {
    await hub.parts.authenticator.authenticate(shown.credential, shown.tenantId);
  } catch (error) {
    if (!(error instanceof ToolFailure) || !isReason(error, 'TENANT_REQUIRED')) throw error;
  }
  return shown;
}

function serve(call: Call, line: GrpcLine, hub: StreamHub, shown: Shown): void {
  const visit = new Visit(hub, line, shown);
  line.whenDrained(() => visit.drained());
  call.on('data', (message: Message) => visit.take(() => readConverse(message)));
  // Who closes the sending side has said its last. One that is cancelled looks so at first, and is lost.
  call.on('end', () => {
    hub.parts.clock.after(CANCELLED_WITHIN_MS, () => {
      if (!call.cancelled) visit.take(() => ({ kind: 'message', message: { type: 'end' } }));
    });
  });
  call.on('cancelled', () => visit.gone());
  if (call.cancelled) visit.gone();
  else call.resume();
}

class GrpcLine implements Line {
  readonly transport = 'grpc';
  readonly #call: Call;
  readonly #hub: StreamHub;
  #isOver = false;
  #disarm: (() => void) | undefined;

  constructor(call: Call, hub: StreamHub) {
    this.#call = call;
    this.#hub = hub;
    call.on('error', () => undefined);
    call.on('cancelled', () => this.#over());
  }

  whenDrained(drained: () => void): void {
    this.#call.on('drain', () => {
      this.#disarm?.();
      this.#disarm = undefined;
      drained();
    });
  }

  send(message: StreamMessage | ConnectionMessage, seq?: number): boolean {
    if (this.#isOver) return false;
    const takesMore = this.#call.write(writeConverse(message, seq));
    if (!takesMore) this.#disarm ??= this.#hub.parts.clock.after(STUCK_MS, () => this.close(tooSlow()));
    return takesMore;
  }

  close(why: Close): void {
    if (why === 'ended') this.#end(() => this.#call.end());
    else this.fail(why === 'draining' ? shuttingDown() : why);
  }

  /** After what was sent. */
  fail(thrown: unknown): void {
    this.#end(() => this.#call.emit('error', exceptionFor(thrown).getError()));
  }

  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }

  #end(end: () => void): void {
    if (this.#isOver) return;
    this.#over();
    end();
  }

  #over(): void {
    this.#isOver = true;
    this.#disarm?.();
  }
}

function tooSlow(): ToolFailure {
  return toolFailure('READER_TOO_SLOW', 'Nothing was read for too long.');
}
