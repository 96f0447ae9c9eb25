// Which tools a tool may call or give its calls to: any, or where it came from elsewhere, those of its source and those listed.
import { globMatcher } from '../text/glob.ts';

interface Placed {
  readonly origin?: { readonly source: string; readonly mayCall: readonly string[] };
}

/** `names`: the target's tool, and its function where that has a name of its own. */
export function mayCall({ origin }: Placed, target: Placed, names: readonly string[]): boolean {
  if (origin === undefined || target.origin?.source === origin.source) return true;
  return names.some(globMatcher(origin.mayCall));
}
