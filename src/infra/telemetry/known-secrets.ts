// KnownSecrets: what references and settings brought in, so that the log can keep it out of every line.
import { secretScrubber, type SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';

/** Renewed secrets come one after the other; the oldest are forgotten. */
const MAX_SECRETS = 1_000;

export class KnownSecrets {
  readonly #known = new Set<string>();
  #scrubber: SecretScrubber | undefined;

  learn(secrets: readonly string[]): void {
    for (const secret of secrets) {
      if (this.#known.has(secret)) continue;
      this.#known.add(secret);
      this.#scrubber = undefined;
      const [oldest] = this.#known;
      if (this.#known.size > MAX_SECRETS && oldest !== undefined) this.#known.delete(oldest);
    }
  }

  get scrubber(): SecretScrubber {
    this.#scrubber ??= secretScrubber([...this.#known]);
    return this.#scrubber;
  }
}
