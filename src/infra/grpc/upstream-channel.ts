// UpstreamChannel: one channel of grpc-js to one upstream: connected by the first call, and never retried from here.
import {
  Client,
  connectivityState,
  credentials,
  Metadata,
  status,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { GrpcCall, GrpcUpstreamSettings } from '../../ports/egress/grpc-upstreams.ts';
import type { Outside } from '../http/guarded-connector.ts';
import { connectFailed } from '../http/http-failures.ts';
import { failureOf } from './grpc-failures.ts';
import type { GrpcMetrics } from './grpc-metrics.ts';
import { guardedTarget, type GuardedTarget } from './guarded-resolver.ts';

/** Servers cut off clients that ask more often, by default. */
const KEEPALIVE_MS = 300_000;
const same = (bytes: Buffer): Buffer => bytes;

export class UpstreamChannel {
  readonly #target: GuardedTarget;
  readonly #client: Client;
  readonly #maxBytes: number;
  readonly #metrics: GrpcMetrics;
  #isClosed = false;

  constructor(
    { host, port, tls, egress, maxMessageBytes }: GrpcUpstreamSettings,
    outside: Outside,
    metrics: GrpcMetrics,
  ) {
    this.#target = guardedTarget(host, port, egress, outside);
    this.#maxBytes = maxMessageBytes;
    this.#metrics = metrics;
    const secured =
      tls === undefined
        ? credentials.createInsecure()
        : credentials.createSsl(bytesOf(tls.ca), bytesOf(tls.key), bytesOf(tls.cert), {
            rejectUnauthorized: true,
          });
    this.#client = new Client(this.#target.uri, secured, {
      // A proxy would be another place than the one that was checked; a channel of another policy, too.
      'grpc.enable_http_proxy': 0,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.service_config_disable_resolution': 1,
      'grpc.enable_retries': 0,
      'grpc.enable_channelz': 0,
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
      'grpc.max_reconnect_backoff_ms': 5_000,
      'grpc.keepalive_time_ms': KEEPALIVE_MS,
      'grpc.primary_user_agent': 'unified-tool-executor',
      ...(tls?.serverName !== undefined && { 'grpc.ssl_target_name_override': tls.serverName }),
    });
  }

  async call(call: GrpcCall): Promise<void> {
    const { path, message, metadata, timeoutMs, signal } = call;
    signal.throwIfAborted();
    const deadline = new Date(Date.now() + timeoutMs);
    await this.#connected(deadline, signal);
    const sent = new Metadata();
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
    const stream = this.#client.makeServerStreamRequest(path, same, same, Buffer.from(message), sent, {
      deadline,
    });
    await this.#answers(stream, call);
  }

  close(): void {
    this.#isClosed = true;
    this.#client.close();
    this.#target.release();
  }

  /** Nothing is sent before there is a connection: whatever fails until then, the upstream has done nothing. */
  async #connected(deadline: Date, signal: AbortSignal): Promise<void> {
    const channel = this.#client.getChannel();
    for (;;) {
      signal.throwIfAborted();
      if (this.#isClosed)
        throw toolFailure('DRAINING', 'The gateway is shutting down.', { partialSideEffects: false });
      const state = channel.getConnectivityState(true);
      if (state === connectivityState.READY) return;
      if (state === connectivityState.TRANSIENT_FAILURE) throw this.#notConnected();
      await this.#moved(state, deadline, signal);
    }
  }

  async #moved(from: connectivityState, deadline: Date, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    this.#client
      .getChannel()
      .watchConnectivityState(from, deadline, (late) =>
        late === undefined ? resolve() : reject(this.#notConnected()),
      );
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #notConnected(): ToolFailure {
    this.#metrics.calls.with('NOT_CONNECTED').add();
    const failure = this.#target.failure();
    return connectFailed(
      failure instanceof Error ? failure : new Error('No connection could be made to any of its addresses.'),
    );
  }

  #answers(stream: ClientReadableStream<Buffer>, { signal, onMessage }: GrpcCall): Promise<void> {
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      let isSettled = false;
      let reading: Promise<void> | undefined;
      const settle = (end: () => void): void => {
        if (isSettled) return;
        isSettled = true;
        signal.removeEventListener('abort', onAbort);
        end();
      };
      const fail = (error: unknown): void => {
        settle(() => reject(error));
        stream.cancel();
      };
      const onAbort = (): void => fail(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      stream.on('metadata', () => (isAnswered = true));
      stream.on('data', (bytes: Buffer) => {
        if (isSettled) return;
        try {
          const done = onMessage(bytes);
          if (done === undefined) return;
          stream.pause();
          reading = done.then(() => void stream.resume(), fail);
        } catch (error) {
          fail(error);
        }
      });
      stream.on('error', (error: ServiceError) => {
        this.#metrics.calls.with(nameOf(error.code)).add();
        settle(() => reject(failureOf(error, isAnswered, this.#maxBytes)));
      });
      stream.on('end', () => {
        void (reading ?? Promise.resolve()).then(() => settle(resolve));
      });
      stream.on('status', ({ code }: { code: status }) => {
        if (code === status.OK) this.#metrics.calls.with('OK').add();
      });
    });
  }
}

function bytesOf(pem: string | undefined): Buffer | null {
  return pem === undefined ? null : Buffer.from(pem);
}

function nameOf(code: number): string {
  return status[code] ?? 'UNKNOWN';
}
