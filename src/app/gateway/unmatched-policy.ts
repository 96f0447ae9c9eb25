// UnmatchedPolicy: which rules of gateway.yaml name no tool that is in force. Looked up anew when tools change, and told once.
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { policyOptionsSchema } from '../../extensions/policy/options.ts';
import { unmatchedRules } from '../../extensions/policy/unmatched-rules.ts';
import { inSlices } from '../../lib/concurrency/in-slices.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface PolicyWarning {
  /** In gateway.yaml. */
  readonly path: readonly string[];
  readonly message: string;
}

export class UnmatchedPolicy {
  readonly #options;
  readonly #log: Log;
  readonly #unsubscribe: () => void;
  #lookedAt: ToolSet | undefined;
  #looking: Promise<void> = Promise.resolve();
  #told = '[]';
  #warnings: readonly PolicyWarning[] = [];

  constructor({ extensions }: Pick<Settings, 'extensions'>, catalog: ToolCatalog, log: Log) {
    this.#options = policyOptionsSchema.parse(extensions['policy'] ?? {});
    this.#log = log;
    this.#unsubscribe = catalog.onChange((set) => {
      // A kill switch leaves the set as it is.
      if (set === this.#lookedAt || this.#options.rules.length === 0) return;
      this.#lookedAt = set;
      this.#looking = this.#looking.then(() => this.#look(set));
    });
  }

  /** Of the tools in force: a loader may bring later what is missing now. */
  get warnings(): readonly PolicyWarning[] {
    return this.#warnings;
  }

  /** Resolves when the warnings are those of the tools in force now. */
  settled(): Promise<void> {
    return this.#looking;
  }

  close(): void {
    this.#unsubscribe();
  }

  async #look(set: ToolSet): Promise<void> {
    const found = await inSlices(unmatchedRules(this.#options, set));
    this.#warnings = found.map(({ path, message }) => ({
      path: ['extensions', 'policy', ...path.map(String)],
      message,
    }));
    const told = JSON.stringify(this.#warnings);
    if (told === this.#told) return;
    this.#told = told;
    for (const { path, message } of this.#warnings)
      this.#log.warn(
        { path: path.join('.'), problem: message },
        'a policy rule names no tool that is there: it holds for none',
      );
  }
}
