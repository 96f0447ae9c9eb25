// SourceAway: what a loader throws whose source cannot be reached, or gives nothing that can be used.
import type { LoadedTools } from './loaded-tools.ts';

/**
 * The registry goes on with what the loader gave last and says so. It is not for a document that came and is wrong: that is
 * a problem, with its place.
 */
export class SourceAway extends Error {
  /** `why` is for the operator: it follows the name of the source, and shows no secret. The cause is for the log alone. */
  constructor(why: string, options?: ErrorOptions) {
    super(why, options);
    this.name = 'SourceAway';
  }
}

/** What a loader itself keeps of its source: a copy of an earlier run, definitions that were agreed to. */
export interface KeptTools {
  readonly loaded: LoadedTools;
  /** Completes a warning: "the copy of Monday stays in force". */
  readonly says: string;
}
