// FloodGuard: counts calls per credential and second, so that one runaway agent cannot eat the process.
import { toolFailure } from '../../contract/call/failure.ts';

export class FloodGuard {
  #second = 0;
  #counts = new Map<string, number>();

  /** Throws RATE_LIMIT (reason FLOOD) once a credential has used up this second's calls. */
  check(credentialId: string, perSecond: number, nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#counts = new Map();
    }
    const count = (this.#counts.get(credentialId) ?? 0) + 1;
    this.#counts.set(credentialId, count);
    if (count <= perSecond) return;
    throw toolFailure('FLOOD', `More than ${perSecond} calls in one second with this credential.`, {
      retryAfterMs: (second + 1) * 1000 - nowMs,
    });
  }
}
