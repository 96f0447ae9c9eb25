// Visit: one connection, from its first message on: what its client says is taken in order, and no faster than it can be.
import type { ClientAddress, Credential, Principal } from '../../contract/call/principal.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { isReason } from '../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { Slices } from '../../lib/concurrency/in-slices.ts';
import { invalid } from '../rest/route/violations.ts';
import type { HeldStream } from './held-stream.ts';
import type { Close, Line } from './line.ts';
import type { Inbound } from './messages/read-message.ts';
import type { StreamHub } from './stream-hub.ts';

/** Of a connection that has begun no stream. */
const FIRST_WITHIN_MS = 10_000;
/** Messages that wait to be taken; the connection is read no further then. */
const MOST_WAITING = 64;
/** Messages that are none, one after the other or not: whoever sends so many does not speak the protocol. */
const MOST_MALFORMED = 20;

export interface Shown {
  readonly credential: Credential;
  /** Whoever shows a credential in the first message shows it from there. */
  readonly from: ClientAddress | undefined;
  /** Named beside the messages. */
  readonly tenantId: string | undefined;
}

export class Visit {
  readonly #hub: StreamHub;
  readonly #line: Line;
  readonly #known: () => void;
  #shown: Shown;
  #held: HeldStream | undefined;
  #queue: (() => Inbound)[] = [];
  #isWorking = false;
  #isPaused = false;
  #isOver = false;
  #malformed = 0;
  #heardAt: number;
  #disarm: () => void;

  /** `known`: called once it is known who is there. */
  constructor(hub: StreamHub, line: Line, shown: Shown, known: () => void = () => undefined) {
    this.#known = known;
    this.#hub = hub;
    this.#line = line;
    this.#shown = shown;
    const { clock } = hub.parts;
    this.#heardAt = clock.now();
    this.#disarm = clock.after(FIRST_WITHIN_MS, () =>
      this.#close(idle('The first message did not come in time.')),
    );
  }

  /** One message, read when it is its turn. */
  take(read: () => Inbound): void {
    if (this.#isOver) return;
    this.#heardAt = this.#hub.parts.clock.now();
    this.#queue.push(read);
    if (this.#queue.length >= MOST_WAITING) this.#pause();
    if (!this.#isWorking) void this.#work();
  }

  /** The line takes more. */
  drained(): void {
    if (this.#held?.connected?.line === this.#line) this.#held.stream.drained();
  }

  /** The connection is gone. */
  gone(): void {
    if (this.#isOver) return;
    this.#leave();
    if (this.#held !== undefined) this.#hub.lost(this.#held, this.#line);
  }

  /** The client is through, and said so by closing. */
  left(): void {
    if (this.#isOver) return;
    this.#leave();
    if (this.#held?.connected?.line === this.#line) this.#hub.close(this.#held, 'ended');
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    const slices = new Slices();
    try {
      for (let read = this.#queue.shift(); read !== undefined; read = this.#queue.shift()) {
        await slices.next();
        await this.#roomInStream();
        if (this.#isOver) break;
        await this.#handle(read());
        if (this.#queue.length === 0) this.#resume();
      }
    } catch (err) {
      this.#hub.parts.log.error({ err }, 'a stream failed');
      this.#close(new ToolFailure('INTERNAL', 'The gateway failed.'));
    } finally {
      this.#isWorking = false;
    }
  }

  async #roomInStream(): Promise<void> {
    const stream = this.#held?.stream;
    if (stream?.isFull !== true) return;
    this.#pause();
    this.#hub.parts.metrics.paused.add();
    await stream.room();
  }

  async #handle(inbound: Inbound): Promise<void> {
    const { metrics } = this.#hub.parts;
    metrics.message('in', typeOf(inbound));
    if (inbound.kind === 'malformed') {
      this.#malformed += 1;
      if (this.#malformed > MOST_MALFORMED) return this.#close(inbound.failure);
    }
    if (inbound.kind === 'message' && inbound.message.type === 'ping') {
      this.#line.send({ type: 'pong', nonce: inbound.message.nonce });
      return;
    }
    if (this.#held === undefined) return this.#begin(inbound);
    if (this.#held.connected?.line === this.#line) await this.#held.stream.take(inbound);
  }

  async #begin(inbound: Inbound): Promise<void> {
    if (inbound.kind === 'malformed') return this.#refuse(inbound.failure);
    if (inbound.kind === 'message' && inbound.message.type === 'end') return this.#close('ended');
    if (inbound.kind !== 'message' || (inbound.message.type !== 'start' && inbound.message.type !== 'resume'))
      return this.#refuse(invalid('/type', 'must be start or resume in the first message'));
    const { message } = inbound;
    try {
      if (message.token !== undefined)
        this.#shown = { ...this.#shown, credential: this.#with(message.token) };
      if (message.tenant_id !== undefined)
        this.#shown = { ...this.#shown, tenantId: this.#tenant(message.tenant_id) };
      const { credential } = this.#shown;
      const principal = await this.#authenticate();
      const stillAllowed = () => this.#check();
      const by = { line: this.#line, speaker: { credential, principal }, stillAllowed };
      const held = await (message.type === 'start'
        ? this.#hub.start(message, by)
        : this.#hub.resume(message, by));
      this.#disarm();
      this.#known();
      this.#held = held;
      if (this.#isOver) this.#hub.lost(held, this.#line);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      this.#refuse(error);
    }
  }

  /** Two that say different things: nobody decides which of them counts. */
  #with(token: string): Credential {
    const { credential, from } = this.#shown;
    const where = from === undefined ? {} : { from };
    if (credential.kind !== 'bearer' && credential.kind !== 'several')
      return { kind: 'bearer', token, ...where };
    const isSame = credential.kind === 'bearer' && credential.token === token;
    return isSame ? credential : { kind: 'several', ...where };
  }

  #tenant(said: string): string {
    const { tenantId = said } = this.#shown;
    if (tenantId !== said)
      throw toolFailure(
        'TENANTS_DIFFER',
        'tenant_id differs from the tenant that the stream was opened for: say one of them, or the same in both.',
        {
          details: { field: 'tenant_id' },
        },
      );
    return said;
  }

  #authenticate(): Principal | Promise<Principal> {
    const { credential, tenantId } = this.#shown;
    return this.#hub.parts.authenticator.authenticate(credential, tenantId);
  }

  async #check(): Promise<void> {
    const { clock, terms } = this.#hub.parts;
    if (clock.now() - this.#heardAt > terms.idleMs) throw idle('Nothing was said for too long.');
    await this.#authenticate();
  }

  /** What is wrong with a message can be mended; what is wrong with who says it cannot. */
  #refuse(failure: ToolFailure): void {
    const { type, reason, message, retryable, retryAfterMs, details } = failure;
    this.#line.send({ type: 'error', failure: { type, reason, message, retryable, retryAfterMs, details } });
    if (type !== 'VALIDATION' || isReason(failure, 'TENANT_REQUIRED')) this.#close(failure);
  }

  #close(why: Close): void {
    if (this.#isOver) return;
    this.#leave();
    if (this.#held?.connected?.line === this.#line) this.#hub.close(this.#held, why);
    else this.#line.close(why);
  }

  #leave(): void {
    this.#isOver = true;
    this.#queue = [];
    this.#disarm();
  }

  #pause(): void {
    if (!this.#isPaused) this.#line.pause();
    this.#isPaused = true;
  }

  #resume(): void {
    if (this.#isPaused) this.#line.resume();
    this.#isPaused = false;
  }
}

function typeOf(inbound: Inbound): string {
  if (inbound.kind === 'message') return inbound.message.type;
  return inbound.kind === 'call' ? 'tool_call' : 'malformed';
}

function idle(message: string): ToolFailure {
  return toolFailure('STREAM_IDLE', message);
}
