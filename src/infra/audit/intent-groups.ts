// IntentGroups: intents straight into the database, those of the same moment with one statement; or refused, soon.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Clock } from '../../ports/clock.ts';
import { GroupCommit } from '../postgres/group-commit.ts';

const GROUP = 256;
const MAX_WAITING = 4_096;
const MAX_WAIT_MS = 2_000;
/** After a failure, nobody waits for the next one for so long. */
const REST_MS = 500;

export class IntentGroups {
  readonly #groups: GroupCommit<string, undefined>;
  readonly #clock: Clock;
  #waiting = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(store: (lines: readonly string[]) => Promise<void>, clock: Clock) {
    this.#clock = clock;
    const commit = async (lines: readonly string[]) => {
      // A statement that hangs holds up those behind it no longer than those in it.
      await this.#inTime(store(lines));
      return lines.map(() => undefined);
    };
    this.#groups = new GroupCommit(commit, { maxItems: GROUP });
  }

  /** Resolves when it is committed. What is refused may have been committed all the same: its outcome says how it ended. */
  async commit(line: string): Promise<void> {
    if (this.#waiting >= MAX_WAITING || this.#clock.now() - this.#failedAt < REST_MS)
      throw unavailable(undefined);
    this.#waiting += 1;
    try {
      // Counted from when it was asked, also behind a group that hangs.
      await this.#inTime(this.#groups.run(line));
    } catch (error) {
      this.#failedAt = this.#clock.now();
      throw unavailable(error);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #inTime(work: Promise<void>): Promise<void> {
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_resolve, reject) => {
      cancel = this.#clock.after(MAX_WAIT_MS, () => reject(new Error(`no answer within ${MAX_WAIT_MS} ms`)));
    });
    await Promise.race([work, late]).finally(() => cancel());
  }
}

function unavailable(cause: unknown): ToolFailure {
  return toolFailure('AUDIT_UNAVAILABLE', 'The call cannot be recorded at the moment, so it does not run.', {
    retryAfterMs: 1_000,
    cause,
  });
}
