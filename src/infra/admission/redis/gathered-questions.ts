// GatheredQuestions: what is asked in one turn of the event loop is one script: most of what a question costs, here and at Redis, is to ask.
import type { Asked, AdmitQuestion } from './admit-question.ts';
import { readReply, type AdmitReply, type RawReply } from './admit-reply.ts';

/** Of so many calls, in the order in which they were asked about. */
export interface Together extends Asked {
  readonly count: number;
}

interface Waiting {
  readonly question: AdmitQuestion;
  readonly asked: Asked;
  readonly resolve: (reply: AdmitReply) => void;
  readonly reject: (error: unknown) => void;
}

/** Resolves to what Redis answers. */
type Send = (epoch: string, together: Together) => Promise<unknown>;

/** Nobody else is served by Redis meanwhile: some 20 µs each. */
export const MOST_TOGETHER = 64;

export class GatheredQuestions {
  readonly #send: Send;
  readonly #atEndOfTurn: (task: () => void) => void;
  #waiting: Waiting[] = [];

  constructor(send: Send, atEndOfTurn: (task: () => void) => void) {
    this.#send = send;
    this.#atEndOfTurn = atEndOfTurn;
  }

  /** One that is alone leaves at the end of this turn, too, as all that is sent to Redis does. */
  ask(question: AdmitQuestion, asked: Asked): Promise<AdmitReply> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) this.#atEndOfTurn(() => this.#sendAll());
      this.#waiting.push({ question, asked, resolve, reject });
    });
  }

  #sendAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < waiting.length;) {
      const { epoch } = (waiting[from] as Waiting).question;
      let to = from + 1;
      while (to < waiting.length && to - from < MOST_TOGETHER && waiting[to]?.question.epoch === epoch)
        to += 1;
      void this.#sendTogether(epoch, waiting.slice(from, to));
      from = to;
    }
  }

  async #sendTogether(epoch: string, waiting: readonly Waiting[]): Promise<void> {
    const keys: string[] = [];
    const args: (string | number)[] = [];
    for (const { asked } of waiting) {
      keys.push(...asked.keys);
      args.push(...asked.args);
    }
    let raw: RawReplies;
    try {
      raw = (await this.#send(epoch, { keys, args, count: waiting.length })) as RawReplies;
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      return;
    }
    waiting.forEach(({ question, resolve, reject }, index) => {
      try {
        resolve(replyTo(question, raw, index));
      } catch (error) {
        reject(error);
      }
    });
  }
}

/** One of each question; a store that is another one answers none of them. */
type RawReplies = readonly ['epoch'] | readonly (RawReply | readonly ['failed', string])[];

function replyTo({ request }: AdmitQuestion, raw: RawReplies, index: number): AdmitReply {
  const reply = raw[index];
  if (raw[0] === 'epoch') return { kind: 'other_epoch' };
  if (typeof reply !== 'object') throw new Error('the store has not answered every question');
  if (reply[0] === 'failed') throw new Error(reply[1]);
  return readReply(reply, request);
}
