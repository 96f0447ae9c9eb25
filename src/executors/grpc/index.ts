// The grpc executor: a tool is a unary or server-streaming method of an upstream gRPC service.
import type { DescMethod, FileRegistry } from '@bufbuild/protobuf';
import type { CallScrubber, Emit, ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import { methodIn } from '../../lib/grpc/descriptor-set.ts';
import { encodeMessage } from '../../lib/grpc/message/encode-message.ts';
import {
  DEFAULT_MESSAGE_BYTES,
  grpcConnectionSchema,
  type GrpcConnection,
} from '../../lib/grpc/grpc-connection.ts';
import { MessageError } from '../../lib/grpc/message/message-error.ts';
import { fingerprintOf } from '../../lib/grpc/read-described.ts';
import { secretScrubber, type SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import { GrpcStatusError, type GrpcUpstreams } from '../../ports/egress/grpc-upstreams.ts';
import { AnswerReader, EnoughMessages } from './answer-reader.ts';
import { callMetadata, type CallMetadata } from './call-metadata.ts';
import { DEFAULT_MOST_MESSAGES, grpcOptionsSchema, type GrpcOptions } from './options-schema.ts';
import { SharedServices, type Services } from './shared-services.ts';
import { statusFailure } from './status-failure.ts';

export interface GrpcNeeds {
  readonly grpcUpstreams: GrpcUpstreams;
  readonly clock: Clock;
}

export const grpcExecutor: ExecutorPlugin<GrpcOptions, GrpcNeeds> = {
  name: 'grpc',
  summary:
    'Calls a method of a gRPC service: arguments and results in proto3 JSON, guarded egress, bounded messages and streams.',
  optionsSchema: grpcOptionsSchema,
  connectionTypes: { grpc: grpcConnectionSchema },
  create: (needs) => new GrpcExecutor(needs),
};

const DEADLINE_EXCEEDED = 4;
/** The upstream, and the library, have clocks and timers of their own. */
const DEADLINE_SLACK_MS = 100;

interface Prepared {
  readonly services: Services;
  readonly method: DescMethod;
  readonly types: FileRegistry;
  readonly options: GrpcOptions;
  readonly connection: GrpcConnection;
  readonly metadata: CallMetadata;
  readonly scrubber: SecretScrubber;
}

class GrpcExecutor implements Executor<GrpcOptions> {
  readonly #clock: Clock;
  readonly #shared: SharedServices;

  constructor(needs: GrpcNeeds) {
    this.#clock = needs.clock;
    this.#shared = new SharedServices(needs);
  }

  async prepare({
    function: fn,
    options,
    connection: given,
  }: ExecutorTarget<GrpcOptions>): Promise<PreparedFunction> {
    if (given === undefined) throw new Error(`There is no connection "${options.connection}".`);
    if (fn.action !== undefined)
      throw new Error('A tool of type grpc has no actions: declare a tool for each method.');
    if (fn.spec.auth?.managed !== undefined)
      throw new Error(
        'A tool of type grpc cannot be given the token of an account: its hosts are held to for http tools alone.',
      );
    const connection = grpcConnectionSchema.parse(given.settings);
    const { baseDir } = fn.spec;
    const fingerprint = await fingerprintOf(connection, baseDir);
    const { held: services, release } = this.#shared.lease(connection, baseDir, fingerprint);
    try {
      const types = await services.registry;
      const method = methodIn(types, options.method);
      const metadata = callMetadata(connection, options);
      const scrubber = secretScrubber([...metadata.secrets, ...(given.secrets ?? [])]);
      const prepared: Prepared = { services, method, types, options, connection, metadata, scrubber };
      return {
        execute: (call, emit) => this.#execute(prepared, call, emit),
        render: (call) => {
          encoded(prepared, call);
          return {
            target: scrubber.text(connection.target),
            method: options.method,
            metadata: metadata.masked(call),
            message: call.arguments,
          };
        },
        upstream: `grpc:${scrubber.text(connection.target) === connection.target ? connection.target : given.name}`,
        yieldsPlainJson: true,
        isStale: async () => (await fingerprintOf(connection, baseDir)) !== fingerprint,
        close: release,
      };
    } catch (error) {
      await release();
      throw error;
    }
  }

  async #execute(prepared: Prepared, call: ToolCall, emit: Emit): Promise<ToolResult> {
    const { services, options, metadata, scrubber, method, types } = prepared;
    const {
      max_messages: maxMessages = DEFAULT_MOST_MESSAGES,
      max_response_bytes: maxBytes = DEFAULT_MESSAGE_BYTES,
    } = options;
    const message = encoded(prepared, call);
    const clean = bothOf(scrubber, call.scrubber);
    const reader = new AnswerReader(
      method,
      types,
      { maxMessages, maxBytes, defaults: options.defaults !== 'omit' },
      {
        emit: call.request.emit === undefined ? undefined : emit,
        clean: clean.json,
      },
    );
    try {
      await services.upstream.call({
        path: `/${options.method}`,
        message,
        metadata: metadata.of(call),
        timeoutMs: Math.max(1, call.deadline - this.#clock.now()),
        signal: call.signal,
        onMessage: (bytes) => reader.take(bytes),
      });
      return await scrubber.jsonInSlices({ data: reader.data(true) });
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof EnoughMessages) return scrubber.jsonInSlices({ data: reader.data(false) });
      if (!(error instanceof GrpcStatusError)) throw error;
      if (error.code === DEADLINE_EXCEEDED && call.deadline - this.#clock.now() < DEADLINE_SLACK_MS)
        throw late();
      throw statusFailure(error, {
        scrub: clean.text,
        shows: options.upstream_errors !== 'hide',
        hasBegun: reader.hasBegun,
      });
    }
  }
}

/** The call's own deadline, which the upstream was told of and came to first. */
function late(): ToolFailure {
  return new ToolFailure('TIMEOUT', 'The upstream did not answer in time.');
}

/** Throws ToolFailure: nothing was sent. */
function encoded({ method, types, connection }: Prepared, { arguments: args }: ToolCall): Uint8Array {
  const { max_message_bytes: maxBytes = DEFAULT_MESSAGE_BYTES } = connection;
  let bytes: Uint8Array;
  try {
    bytes = encodeMessage(method.input, args, types);
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    throw new ToolFailure('VALIDATION', error.message, {
      reason: 'SCHEMA_MISMATCH',
      partialSideEffects: false,
    });
  }
  if (bytes.length <= maxBytes) return bytes;
  throw new ToolFailure(
    'PAYLOAD_TOO_LARGE',
    `The arguments make a message of ${bytes.length} bytes; the upstream is sent ${maxBytes} at most.`,
    {
      details: { max_bytes: maxBytes },
      partialSideEffects: false,
    },
  );
}

/** What is cut or told on has every secret taken out before: those of the call's agent as well. */
function bothOf(
  own: SecretScrubber,
  ofAgent: CallScrubber | undefined,
): Pick<SecretScrubber, 'text' | 'json'> {
  if (ofAgent === undefined) return own;
  return { text: (text) => ofAgent.text(own.text(text)), json: (value) => ofAgent.json(own.json(value)) };
}
