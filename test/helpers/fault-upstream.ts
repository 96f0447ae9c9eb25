// The upstream of the fault suites: it counts by itself how often each call ran and how many ran at the same time.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Moment {
  readonly kind: string;
  readonly at: number;
  readonly running: number;
}

/** `POST /run/{ref}?ms=`: runs for so long. Refs `kind.number` are counted by their kind. `GET /look`: answers at once. */
export class FaultUpstream {
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));
  readonly #runs = new Map<string, number>();
  readonly #held = new Map<string, () => void>();
  readonly #moments: Moment[] = [];
  readonly #running = new Map<string, number>();
  #holding = false;

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How often it was told to do this. */
  runs(ref: string): number {
    return this.#runs.get(ref) ?? 0;
  }

  get running(): number {
    return this.#running.get('') ?? 0;
  }

  /** The largest number that ran at the same time between two moments of `Date.now()`. */
  mostAtOnce(from: number, to = Number.POSITIVE_INFINITY, ofKind = ''): number {
    const within = this.#moments.filter(({ at, kind }) => at >= from && at <= to && kind === ofKind);
    return within.reduce((most, { running }) => Math.max(most, running), 0);
  }

  /** When calls of a kind came, in their order. */
  arrivals(ofKind: string): readonly number[] {
    return this.#moments.filter(({ kind }) => kind === ofKind).map(({ at }) => at);
  }

  /** From now on what comes runs until it is let go. */
  hold(): void {
    this.#holding = true;
  }

  letGo(): void {
    this.#holding = false;
    for (const answer of this.#held.values()) answer();
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://upstream');
    request.resume();
    if (pathname === '/look') {
      answerWith(response, { seen: true });
      return;
    }
    const ref = pathname.slice('/run/'.length);
    this.#runs.set(ref, this.runs(ref) + 1);
    const kind = ref.includes('.') ? ref.slice(0, ref.indexOf('.')) : '';
    this.#count(kind, 1);
    let over = false;
    const end = () => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      this.#held.delete(ref);
      // Before the answer: with it, the next one may come.
      this.#count(kind, -1);
    };
    const finish = () => {
      end();
      answerWith(response, { ref });
    };
    const timer = setTimeout(() => !this.#held.has(ref) && finish(), Number(searchParams.get('ms') ?? 0));
    if (this.#holding) this.#held.set(ref, finish);
    response.once('close', end);
  }

  #count(kind: string, change: 1 | -1): void {
    const running = (this.#running.get(kind) ?? 0) + change;
    this.#running.set(kind, running);
    if (change > 0) this.#moments.push({ kind, at: Date.now(), running });
  }
}

function answerWith(response: ServerResponse, body: unknown): void {
  if (response.destroyed) return;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}
