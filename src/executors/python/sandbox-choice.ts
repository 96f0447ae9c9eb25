// SandboxChoice: whether workers run inside the sandbox, found out by the first that starts and said once.
import { ToolFailure } from '../../contract/tool-failure.ts';
import type { Log } from '../../ports/log.ts';
import type { SandboxWish } from './settings.ts';

type Verdict = 'in the sandbox' | 'without a sandbox';

export class SandboxChoice {
  readonly wish: SandboxWish;
  readonly #log: Log;
  #said: Verdict | undefined;
  #unavailable = false;

  constructor(wish: SandboxWish, log: Log) {
    this.wish = wish;
    this.#log = log;
  }

  /** Whether to try it for workers that cannot do without it, or that can. */
  tries(needed: boolean): boolean {
    return needed || this.wish === 'required' || (this.wish === 'preferred' && !this.#unavailable);
  }

  /** Whether workers may be started without it when it failed. */
  mayDoWithout(needed: boolean): boolean {
    return !needed && this.wish === 'preferred';
  }

  worked(confined: boolean): void {
    this.#say(confined ? 'in the sandbox' : 'without a sandbox', {});
  }

  failed(error: unknown): void {
    if (error instanceof ToolFailure && error.reason === 'SANDBOX_UNAVAILABLE') this.#unavailable = true;
    this.#say('without a sandbox', { err: error });
  }

  #say(verdict: Verdict, fields: { readonly err?: unknown }): void {
    if (this.#said === verdict) return;
    this.#said = verdict;
    const level = verdict === 'in the sandbox' || this.wish === 'off' ? 'info' : 'warn';
    this.#log[level]({ executor: 'python', sandbox: this.wish, ...fields }, `Python tools run ${verdict}`);
  }
}
