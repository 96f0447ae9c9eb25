// SandboxChoice: whether Python workers run inside the sandbox. Settled once, at boot; no failure of a worker changes it.
import { toolFailure } from '../../contract/call/failure.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { notTried, type Sandbox, type SandboxBackend } from '../../ports/egress/sandbox.ts';
import type { SandboxWish } from './settings.ts';

export interface ChoiceNeeds {
  readonly sandbox: Pick<Sandbox, 'describe'>;
  readonly log: Log;
  /** Whether the gateway itself runs as root. */
  readonly isRoot: boolean;
}

/** The sandbox that a call runs in, as its audit record tells it. */
export type CallWalls = SandboxBackend | 'none';

const AS_ROOT =
  'executors.python.sandbox: "preferred" is refused where the gateway runs as root: without a sandbox, Python tools would be root. Set "required", or run the gateway as another user.';
const HOW_TO_MEND =
  'Install bubblewrap (apt-get install bubblewrap util-linux) and allow user namespaces, or run on Linux 6.2 or newer with python3 (docs/sandbox.md); to run Python tools with the rights of the gateway itself, set executors.python.sandbox: "off".';

export class SandboxChoice {
  readonly wish: SandboxWish;
  readonly #needs: ChoiceNeeds;
  /** Only `preferred` has to look first. */
  #withoutSandbox: boolean | Promise<boolean>;
  #hasLoggedUnavailable = false;

  /** Throws Error where the settings ask for what is never allowed. */
  constructor(wish: SandboxWish, needs: ChoiceNeeds) {
    if (wish === 'preferred' && needs.isRoot) throw new Error(AS_ROOT);
    this.wish = wish;
    this.#needs = needs;
    this.#withoutSandbox = wish === 'preferred' ? this.#look() : wish === 'off';
    if (wish === 'off') this.#logChoice(true);
  }

  /** Whether these workers run inside the sandbox: `always` says that they cannot do without. The answer never changes. */
  confines(always: boolean): boolean | Promise<boolean> {
    const without = this.#withoutSandbox;
    if (always || typeof without === 'boolean') return always || !without;
    return without.then((settled) => !settled);
  }

  /** What calls of these workers run in. Throws ToolFailure SANDBOX_UNAVAILABLE where they need what is not there. */
  async walls(always: boolean): Promise<CallWalls> {
    if (!(await this.confines(always))) return 'none';
    const { backend, shortage } = await this.#needs.sandbox.describe();
    if (backend !== 'none') return backend;
    const message =
      shortage === undefined
        ? `There is no sandbox for Python tools here. ${HOW_TO_MEND}`
        : notTried(shortage);
    this.#logUnavailable(message);
    throw toolFailure('SANDBOX_UNAVAILABLE', message, {
      retryable: shortage !== undefined,
      partialSideEffects: false,
    });
  }

  /** For /readyz. What is not settled yet is left out. */
  get status(): JsonObject {
    const without = this.#withoutSandbox;
    return { sandbox: this.wish, ...(typeof without === 'boolean' && { runs_without_sandbox: without }) };
  }

  /** True only for a machine that has no sandbox: one that could not be tried, for want of disk or memory, may have one. */
  async #look(): Promise<boolean> {
    const report = await this.#needs.sandbox.describe().catch((error: unknown) => {
      this.#needs.log.error(
        { executor: 'python', err: error },
        'whether there is a sandbox could not be found out: tools that need one refuse their calls',
      );
    });
    const without = report?.backend === 'none' && report.shortage === undefined;
    this.#withoutSandbox = without;
    this.#logChoice(without);
    return without;
  }

  #logChoice(without: boolean): void {
    const fields = { executor: 'python', sandbox: this.wish };
    if (without) {
      this.#needs.log.warn(fields, 'Python tools run without a sandbox, with the rights of the gateway');
    } else this.#needs.log.info(fields, 'Python tools run in the sandbox only');
  }

  #logUnavailable(why: string): void {
    if (this.#hasLoggedUnavailable) return;
    this.#hasLoggedUnavailable = true;
    const fields = { executor: 'python', sandbox: this.wish };
    this.#needs.log.error(fields, `Python tools refuse their calls. ${why}`);
  }
}
