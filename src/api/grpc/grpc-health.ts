// GrpcHealth: how the gRPC server is: its port, what grpc.health.v1 answers, and the end of streams that would outlive a drain.
import { status, type Server, type ServiceError } from '@grpc/grpc-js';
import type { PackageDefinition } from '@grpc/proto-loader';
import { HealthImplementation } from 'grpc-health-check';
import { shuttingDown } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { addReflection } from './reflection.ts';
import { SERVICE_NAME } from './wire-types.ts';

type AddService = Parameters<HealthImplementation['addToServer']>[0]['addService'];
type Implementation = Parameters<AddService>[1];
type Handler = Implementation[string];

/** A call that stays open until one side ends it. */
interface OpenCall {
  end(): void;
  emit(event: 'error', error: Partial<ServiceError>): boolean;
  once(event: 'cancelled' | 'finish', listener: () => void): unknown;
}

export class GrpcHealth {
  readonly #health = new HealthImplementation({ '': 'NOT_SERVING', [SERVICE_NAME]: 'NOT_SERVING' });
  readonly #open = new Set<(failure: ToolFailure) => void>();
  #draining = false;
  #boundPort: number | undefined;

  /**
   * Not serving until first told otherwise. `false` is the start of the drain: streams that have no end of
   * their own (health and tool watches, reflection) end now, so that a graceful shutdown has not to wait for
   * them; calls in flight go on.
   */
  setServing(serving: boolean): void {
    this.#draining = !serving;
    this.#setStatus(serving);
    if (serving) return;
    const failure = shuttingDown();
    for (const end of this.#open) end(failure);
  }

  /** A serving gateway that refuses its calls for now: nothing ends. */
  setAccepting(accepting: boolean): void {
    if (!this.#draining) this.#setStatus(accepting);
  }

  #setStatus(serving: boolean): void {
    for (const service of ['', SERVICE_NAME])
      this.#health.setStatus(service, serving ? 'SERVING' : 'NOT_SERVING');
  }

  /** The port that was bound, where `configured` (perhaps 0, for any) was asked for. */
  port(configured: number): number {
    return this.#boundPort ?? configured;
  }

  setPort(bound: number): void {
    this.#boundPort = bound;
  }

  /** Calls `end` when the drain starts, at once if it has; the returned function forgets it. */
  onDrain(end: (failure: ToolFailure) => void): () => void {
    if (this.#draining) {
      end(shuttingDown());
      return () => undefined;
    }
    this.#open.add(end);
    return () => this.#open.delete(end);
  }

  /** Adds the health service, and reflection (v1 and v1alpha) of `describe` where it is given. */
  addToServer(server: Pick<Server, 'addService'>, describe?: PackageDefinition): void {
    const addService: AddService = (definition, implementation) =>
      server.addService(definition, this.#endingWithDrain(implementation));
    this.#health.addToServer({ addService });
    if (describe !== undefined) addReflection(addService, describe);
  }

  #endingWithDrain({ watch, ServerReflectionInfo, ...unary }: Implementation): Implementation {
    const implementation: Implementation = { ...unary };
    if (watch !== undefined) implementation['watch'] = this.#ending(watch);
    if (ServerReflectionInfo !== undefined)
      implementation['ServerReflectionInfo'] = this.#ending(ServerReflectionInfo);
    return implementation;
  }

  #ending(handler: Handler): Handler {
    return (call: unknown) => {
      (handler as (call: unknown) => void)(call);
      const open = call as OpenCall;
      const forget = this.onDrain(({ message }) =>
        open.emit('error', { code: status.UNAVAILABLE, details: message, message }),
      );
      open.once('cancelled', forget);
      open.once('finish', forget);
    };
  }
}
