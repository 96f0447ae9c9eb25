// The clients of a fault run: they call at random gateways in all ways, and repeat with the key what they know no end of.
import { setTimeout as pause } from 'node:timers/promises';
import { callIdOf, type AnswerMeta } from '../../helpers/async-client.ts';
import type { FaultBench } from '../../helpers/fault-bench.ts';
import type { Random } from './random.ts';

/** `metered` has a rate; the others have places, and only `pay_again` may run twice. */
type Tool = 'pay' | 'pay_again' | 'metered';
const TOOLS: readonly Tool[] = ['pay', 'pay', 'pay_again'];
const METERED: readonly Tool[] = ['metered'];
/** So many clients ask for more than the rate of `metered` allows. */
const METERING = 6;

/** A call as its client knows it in the end. */
export interface Asked {
  readonly ref: string;
  readonly tool: Tool;
  readonly isAsync: boolean;
  readonly isKeyed: boolean;
  tries: number;
  /** Of the last answer; 0: the connection broke. */
  status: number;
  ok: boolean;
  reason: string;
  /** False: every answer, and there was one to each try, said that nothing had happened. */
  mayHaveActed: boolean;
  /** Of an accepted call: the one that runs, whichever try it was accepted at. */
  callId: string;
  /** False: the last answer is that to an earlier try, which did not come. */
  wasTold: boolean;
}

interface Body {
  readonly ok?: boolean;
  readonly error?: { readonly reason: string; readonly partial_side_effects: boolean };
  readonly meta?: AnswerMeta & { readonly replayed: boolean };
}

const WORK_MS = [5, 80] as const;
const THINK_MS = [10, 250] as const;
const METERING_THINK_MS = [20, 120] as const;
const AGAIN_MS = 200;
/** After the faults are over, a client that repeats with its key has an answer by then. */
const LAST_ANSWER_MS = 120_000;

export class Clients {
  readonly asked: Asked[] = [];
  readonly #bench: FaultBench;
  readonly #stopping = new AbortController();
  #clients: readonly Promise<void>[] = [];
  #giveUpAt = Number.POSITIVE_INFINITY;

  constructor(bench: FaultBench) {
    this.#bench = bench;
  }

  begin(count: number, random: Random): void {
    const asking = Array.from({ length: count }, () => this.#client(TOOLS, random.fork()));
    const metering = Array.from({ length: METERING }, () => this.#client(METERED, random.fork()));
    this.#clients = [...asking, ...metering];
  }

  /** Resolves when each has its last answer. */
  async stop(): Promise<void> {
    this.#giveUpAt = performance.now() + LAST_ANSWER_MS;
    this.#stopping.abort();
    await Promise.all(this.#clients);
  }

  async #client(tools: readonly Tool[], random: Random): Promise<void> {
    const [shortest, longest] = tools === METERED ? METERING_THINK_MS : THINK_MS;
    while (!this.#stopping.signal.aborted) {
      await this.#call(random.of(tools), random);
      await pause(random.between(shortest, longest));
    }
  }

  async #call(tool: Tool, random: Random): Promise<void> {
    const isAsync = tool !== 'metered' && random.next() < 0.4;
    const isKeyed = tool !== 'metered' && random.next() < 0.6;
    const ref = `${tool}.${this.asked.length + 1}`;
    const call: Asked = {
      ref,
      tool,
      isAsync,
      isKeyed,
      tries: 0,
      status: 0,
      ok: false,
      reason: '',
      mayHaveActed: false,
      callId: '',
      wasTold: false,
    };
    this.asked.push(call);
    const ms = Math.round(random.between(...WORK_MS));
    await this.#ask(call, ms, random);
    while (repeats(call) && performance.now() < this.#giveUpAt) {
      await pause(AGAIN_MS);
      await this.#ask(call, ms, random);
    }
  }

  async #ask(call: Asked, ms: number, random: Random): Promise<void> {
    call.tries += 1;
    const { replicas } = this.#bench;
    if (replicas.length === 0) return;
    const { url, key } = random.of(replicas);
    const headers: Record<string, string> = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(call.isAsync && { prefer: 'respond-async' }),
      ...(call.isKeyed && { 'idempotency-key': call.ref }),
    };
    const body = JSON.stringify({ arguments: { ref: call.ref, ms } });
    try {
      const response = await fetch(`${url}/v1/tools/${call.tool}/execute`, { method: 'POST', headers, body });
      const { ok = false, error, meta } = (await response.json()) as Body;
      call.status = response.status;
      call.ok = ok;
      call.reason = error?.reason ?? '';
      call.callId = meta === undefined ? '' : callIdOf(meta);
      call.wasTold = meta?.replayed !== true;
      call.mayHaveActed ||= ok || (error?.partial_side_effects ?? true);
    } catch {
      call.status = 0;
      call.mayHaveActed = true;
    }
  }
}

/** With its key, a client repeats what it knows no end of. */
function repeats({ isKeyed, status, reason }: Asked): boolean {
  return isKeyed && (status === 0 || status === 429 || status === 503 || reason === 'IDEMPOTENCY_IN_FLIGHT');
}
