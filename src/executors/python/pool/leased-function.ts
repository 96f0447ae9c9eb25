// LeasedFunction: a function in use, judged when it is loaded and again whenever its code has changed.
import type { JsonValue } from '../../../contract/json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Answer } from '../worker/answer.ts';
import type { ModuleWatch } from './module-watch.ts';
import type { WarmUp } from '../worker/worker-starter.ts';

/** Judges the answer to a check; returns the files that it rests on. Throws a sentence when it will not do. */
export type Accept = (data: JsonValue) => readonly string[];

export class LeasedFunction implements WarmUp {
  readonly head: string;
  readonly #accept: Accept;
  readonly #watch: ModuleWatch;
  #changed = false;
  #files: readonly string[] = [];
  #refusal: ToolFailure | undefined;

  constructor(head: string, accept: Accept, watch: ModuleWatch) {
    this.head = head;
    this.#accept = accept;
    this.#watch = watch;
  }

  /** Why calls are refused since the code has changed. */
  get refusal(): ToolFailure | undefined {
    return this.#refusal;
  }

  async judge(data: JsonValue): Promise<void> {
    await this.#watch.add((this.#files = this.#accept(data)));
  }

  /** Of the code that calls run from now on. */
  contentHash(): Promise<string> {
    return this.#watch.hashOf(this.#files);
  }

  mayHaveChanged(): void {
    this.#changed = true;
  }

  onAnswer(answer: Answer): void {
    if (!this.#changed) return;
    try {
      if (!answer.ok) throw new Error(answer.error.message.slice(0, 500));
      void this.#watch.add((this.#files = this.#accept(answer.data)));
      this.#refusal = undefined;
    } catch (error) {
      this.#refusal = new ToolFailure(
        'UNAVAILABLE',
        'The code of this Python tool has changed in a way that does not fit the tool any more.',
        { reason: 'TOOL_DEFINITION_CHANGED', retryable: false, partialSideEffects: false, cause: error },
      );
    }
  }
}
