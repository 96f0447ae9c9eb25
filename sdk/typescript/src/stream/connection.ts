// Connection: keeps a stream on a line. One that is lost is followed by another, which goes on after the last message that came.
import { AuthError, ConnectionError } from '../errors/gateway-error.ts';
import { Deadline } from '../client/deadline.ts';
import type { SpeakerSource } from '../client/call-route.ts';
import { DEFAULT_RETRIES, delayMs } from '../client/retry.ts';
import { errorOfMessage } from './web-socket-line.ts';
import { mayGoOn, type LineEvents, type OpenLine, type StreamLine } from './line.ts';
import type {
  ClientMessage,
  ServerMessage,
  ServerMessageOf,
  StreamMessage,
  StreamStart,
} from './messages.ts';
import { Unconfirmed } from './unconfirmed.ts';

export interface ConnectionNeeds {
  readonly open: OpenLine;
  readonly speaker: SpeakerSource;
  /** Each message once, in their order. */
  readonly heard: (message: StreamMessage) => void;
  /** Less is unconfirmed than before. */
  readonly confirmed: () => void;
  /** Once. `undefined`: as the client wanted. */
  readonly over: (why: Error | undefined) => void;
}

type First = Extract<ClientMessage, { type: 'start' | 'resume' }>;
type Begun = ServerMessageOf<'started' | 'resumed'>;

/** A replica may hand a stream over only when its calls have ended. */
const RESUMED_WITHIN_MS = 70_000;
/** Over what `resume_for_ms` says: the gateway may have noticed the loss later. */
const GRACE_MS = 5_000;
const PING_AFTER_MS = 15_000;
const SILENT_MS = 45_000;
/** Sent since the gateway was asked last how much it has taken. */
const ASK_AFTER = 64;

export class Connection {
  readonly #needs: ConnectionNeeds;
  readonly #unconfirmed = new Unconfirmed();
  readonly #ended = new AbortController();
  #line: StreamLine | undefined;
  #started: ServerMessageOf<'started'> | undefined;
  #lastSeq = 0;
  #heardAt = 0;
  #askedAt = 0;
  #isDraining = false;
  #watch: ReturnType<typeof setInterval> | undefined;

  constructor(needs: ConnectionNeeds) {
    this.#needs = needs;
  }

  get unconfirmed(): number {
    return this.#unconfirmed.count;
  }

  get isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Rejects with what the gateway says, ConnectionError or DeadlineError. */
  async start(said: StreamStart, deadline: Deadline): Promise<ServerMessageOf<'started'>> {
    const begun = await this.#until(deadline, () => ({ type: 'start', ...said }));
    this.#watch = setInterval(() => this.#look(), PING_AFTER_MS / 3);
    return begun as ServerMessageOf<'started'>;
  }

  send(message: ClientMessage): void {
    this.#unconfirmed.push(message);
    this.#line?.send(message);
    if (this.#unconfirmed.sent - this.#askedAt >= ASK_AFTER) this.#ask();
  }

  /** At once. */
  close(): void {
    this.#line?.end();
    this.#over(undefined);
  }

  /** One line after the other, until the stream is on one. */
  async #until(deadline: Deadline, first: () => First): Promise<Begun> {
    let refresh = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#begin(first(), refresh, deadline);
      } catch (error) {
        this.#ended.signal.throwIfAborted();
        deadline.throwIfOver(error);
        const mayRefresh: boolean = error instanceof AuthError && !refresh && this.#needs.speaker.hasTokens;
        if (!(error instanceof Error) || (!mayGoOn(error) && !mayRefresh)) throw error;
        refresh = mayRefresh;
        const { retryAfterMs } = error as { retryAfterMs?: number };
        if (!mayRefresh) await deadline.pause(delayMs(DEFAULT_RETRIES, attempt, retryAfterMs), error);
      }
    }
  }

  async #begin(first: First, refresh: boolean, deadline: Deadline): Promise<Begun> {
    const { open, speaker } = this.#needs;
    const shown = { credential: await speaker.credential(refresh), tenant: speaker.tenant };
    const signal = AbortSignal.any([
      deadline.signal,
      this.#ended.signal,
      AbortSignal.timeout(RESUMED_WITHIN_MS),
    ]);
    const begun = new FirstAnswer();
    let line: StreamLine | undefined;
    const events: LineEvents = {
      message: (message) => {
        if (this.#line !== undefined && this.#line === line) this.#heard(message);
        else if (begun.take(message)) this.#attach(line, message as Begun);
      },
      closed: (why) => {
        begun.fail(why ?? new ConnectionError('The gateway ended the stream before it began.'));
        if (this.#line !== undefined && this.#line === line) this.#lost(why);
      },
    };
    line = await open(shown, events, signal);
    line.send(first);
    try {
      return await begun.within(signal);
    } catch (error) {
      line.drop();
      throw error;
    }
  }

  /** In the same moment as the first answer: what follows it is of this line already. */
  #attach(line: StreamLine | undefined, begun: Begun): void {
    if (this.isOver) return line?.end();
    this.#line = line;
    this.#isDraining = false;
    this.#heardAt = performance.now();
    if (begun.type === 'started') {
      this.#started = begun;
      return;
    }
    try {
      for (const message of this.#unconfirmed.after(begun.received)) line?.send(message);
      this.#needs.confirmed();
    } catch (error) {
      line?.end();
      this.#over(error as Error);
    }
  }

  #heard(message: ServerMessage): void {
    this.#heardAt = performance.now();
    if (message.type === 'reconnect') this.#isDraining = true;
    // A replica that stops answers pings, and takes nothing.
    if (message.type === 'pong' && !this.#isDraining) {
      this.#unconfirmed.confirm(Number(message.nonce));
      this.#needs.confirmed();
    }
    if (!('seq' in message) || message.seq === undefined || message.seq <= this.#lastSeq) return;
    this.#lastSeq = message.seq;
    this.#needs.heard(message);
  }

  #lost(why: Error | undefined): void {
    this.#line = undefined;
    const mayRefresh = why instanceof AuthError && this.#needs.speaker.hasTokens;
    if (why === undefined || !(mayGoOn(why) || mayRefresh)) return this.#over(why);
    const { resume_for_ms: keptMs, resume_token: token } = this.#started ?? {
      resume_for_ms: 0,
      resume_token: '',
    };
    const first = (): First => ({ type: 'resume', resume_token: token, last_seq: this.#lastSeq });
    const deadline = new Deadline(keptMs + GRACE_MS);
    this.#until(deadline, first).catch((error: unknown) => {
      this.#over(error instanceof Error ? error : why);
    });
  }

  #look(): void {
    if (this.#line === undefined) return;
    const silentMs = performance.now() - this.#heardAt;
    if (silentMs > SILENT_MS) {
      this.#line.drop();
      this.#lost(new ConnectionError('Nothing was heard of the gateway for too long.'));
    } else if (silentMs > PING_AFTER_MS) this.#ask();
  }

  #ask(): void {
    const { sent } = this.#unconfirmed;
    this.#askedAt = sent;
    this.#line?.send({ type: 'ping', nonce: String(sent) });
  }

  #over(why: Error | undefined): void {
    if (this.isOver) return;
    this.#ended.abort(new ConnectionError('The stream is over.'));
    clearInterval(this.#watch);
    this.#line = undefined;
    this.#needs.over(why);
  }
}

/** `started` or `resumed`; `error` before it is why there is none. */
class FirstAnswer {
  readonly #answered: Promise<Begun>;
  #resolve: (begun: Begun) => void = () => undefined;
  #reject: (why: Error) => void = () => undefined;

  constructor() {
    this.#answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#answered.catch(() => undefined);
  }

  /** True: it is the answer. */
  take(message: ServerMessage): boolean {
    if (message.type === 'started' || message.type === 'resumed') {
      this.#resolve(message);
      return true;
    }
    if (message.type === 'error') this.#reject(errorOfMessage(message.error));
    return false;
  }

  fail(why: Error): void {
    this.#reject(why);
  }

  async within(signal: AbortSignal): Promise<Begun> {
    signal.addEventListener('abort', () => this.#reject(signal.reason as Error), { once: true });
    if (signal.aborted) throw signal.reason as Error;
    return this.#answered;
  }
}
