// The gRPC door: translates a request, calls the core or the catalog, translates back. Nothing is decided here.
import type { Metadata, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { Controller, Inject, Logger } from '@nestjs/common';
import { GrpcMethod, RpcException } from '@nestjs/microservices';
import { defer, finalize, type Observable } from 'rxjs';
import { holds } from '../../contract/principal.ts';
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { ToolResponse } from '../../contract/tool-response.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { ToolCaller } from '../../ports/tool-caller.ts';
import type { ToolCatalog } from '../../ports/tool-catalog.ts';
import { AUTHENTICATOR, TOOL_CALLER, TOOL_CATALOG } from '../tokens.ts';
import { lifeOf } from './call-life.ts';
import { checkMetadataSize, credentialOf } from './call-metadata.ts';
import { executeStream } from './execute-stream.ts';
import { GrpcHealth } from './grpc-health.ts';
import { invalid } from './invalid.ts';
import { listTools } from './list-tools.ts';
import { formOf, readRequest } from './read-request.ts';
import { exceptionOf, exceptionOfFailure, statusCodeOf } from './rich-error.ts';
import { toolMessage } from './tool-message.ts';
import { watchTools } from './watch-tools.ts';
import { encodeGetResponse, encodeListResponse, UNREADABLE, type Readable } from './wire-types.ts';
import type { ExecuteMessage, GetToolMessage, ListToolsMessage } from './wire-types.ts';
import { writeResponse } from './write-response.ts';

type Unary = ServerUnaryCall<unknown, Uint8Array>;
type Stream = ServerWritableStream<unknown, Uint8Array>;

const SERVICE = 'ToolExecutorService';
const MAX_WATCHERS = 1000;

@Controller()
export class ToolExecutorController {
  readonly #log = new Logger(ToolExecutorController.name);
  #watchers = 0;

  constructor(
    @Inject(TOOL_CALLER) private readonly caller: ToolCaller,
    @Inject(TOOL_CATALOG) private readonly catalog: ToolCatalog,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(GrpcHealth) private readonly health: GrpcHealth,
  ) {}

  @GrpcMethod(SERVICE, 'Execute')
  async execute(message: Readable<ExecuteMessage>, metadata: Metadata, call: Unary): Promise<Uint8Array> {
    const life = lifeOf(call);
    const response = await this.caller.execute(readRequest(message, metadata, life));
    life.settle();
    try {
      return writeResponse(answerTo(message, response), formOf(message));
    } catch (thrown) {
      throw this.#asError(thrown, response);
    }
  }

  @GrpcMethod(SERVICE, 'ExecuteStream')
  executeStream(message: Readable<ExecuteMessage>, metadata: Metadata, call: Stream): Observable<Uint8Array> {
    const life = lifeOf(call);
    return executeStream({
      pace: call,
      form: formOf(message),
      run: (emit) => this.caller.execute(readRequest(message, metadata, { ...life, emit })),
      life,
      answerOf: (response) => answerTo(message, response),
      asError: (thrown) => this.#asError(thrown),
    });
  }

  @GrpcMethod(SERVICE, 'ListTools')
  listTools(message: Readable<ListToolsMessage>, metadata: Metadata): Uint8Array {
    return this.#read(metadata, message, (request) => encodeListResponse(listTools(this.catalog, request)));
  }

  @GrpcMethod(SERVICE, 'GetTool')
  getTool(message: Readable<GetToolMessage>, metadata: Metadata): Uint8Array {
    return this.#read(metadata, message, ({ name }) => {
      const snapshot = this.catalog.snapshot();
      const fn = snapshot.find(name);
      if (fn === undefined) {
        const failure = new ToolFailure('NOT_FOUND', 'There is no tool of this name.', {
          reason: 'TOOL_NOT_FOUND',
        });
        throw exceptionOfFailure(failure, { callId: '', tool: name });
      }
      const tool = toolMessage(fn, snapshot, this.catalog.isDisabled(fn.spec.name));
      const { documentation } = fn.spec.metadata;
      return encodeGetResponse({ tool, documentation, registryVersion: snapshot.version });
    });
  }

  @GrpcMethod(SERVICE, 'WatchTools')
  watchTools(message: Readable<object>, metadata: Metadata, call: Stream): Observable<Uint8Array> {
    return this.#read(metadata, message, () =>
      defer(() => {
        const leave = this.#enterWatch();
        const watch = watchTools({
          catalog: this.catalog,
          pace: call,
          authorize: () => this.#authorize(metadata),
          onDrain: (end) => this.health.onDrain(end),
          asError: (thrown) => this.#asError(thrown),
        });
        return watch.pipe(finalize(leave));
      }),
    );
  }

  #enterWatch(): () => void {
    if (this.#watchers >= MAX_WATCHERS) throw exceptionOfFailure(tooManyWatchers());
    this.#watchers += 1;
    return () => {
      this.#watchers -= 1;
    };
  }

  #read<Message, Answer>(
    metadata: Metadata,
    message: Readable<Message>,
    answer: (request: Message) => Answer,
  ): Answer {
    try {
      this.#authorize(metadata);
      if (message === UNREADABLE) throw invalid('', 'is not a message of its type');
      return answer(message);
    } catch (thrown) {
      throw this.#asError(thrown);
    }
  }

  #authorize(metadata: Metadata): void {
    checkMetadataSize(metadata);
    const principal = this.authenticator.authenticate(credentialOf(metadata));
    if (holds(principal, 'tools:read')) return;
    throw new ToolFailure('PERMISSION_DENIED', 'This needs the permission tools:read.', {
      reason: 'PERMISSION_MISSING',
      details: { permission: 'tools:read' },
    });
  }

  /** Anything but a refusal is a defect: it goes to the log, and INTERNAL to the caller. */
  #asError(thrown: unknown, response?: ToolResponse): RpcException {
    if (thrown instanceof RpcException) return thrown;
    if (thrown instanceof ToolFailure) return exceptionOfFailure(thrown, response?.meta);
    this.#log.error(thrown);
    return exceptionOfFailure(new ToolFailure('INTERNAL', 'The gateway failed to answer.'), response?.meta);
  }
}

/** Throws where the envelope's error is a failure of the call and not a tool's own answer. */
function answerTo(message: Readable<ExecuteMessage>, response: ToolResponse): ToolResponse {
  if (response.ok || statusCodeOf(response.error) === 0) return response;
  const { callId, tool } = response.meta;
  throw exceptionOf(response.error, {
    callId,
    tool: tool !== '' || message === UNREADABLE ? tool : message.tool,
  });
}

function tooManyWatchers(): ToolFailure {
  return new ToolFailure(
    'CONCURRENCY_LIMIT',
    `At most ${MAX_WATCHERS} callers may watch the tools at once.`,
    {
      reason: 'TOO_MANY_WATCHERS',
      retryAfterMs: 5000,
    },
  );
}
