// The two lists: every call walks them from top to bottom and back up again. The order is policy; each line says why.
import type { ExtensionPlugin } from '../contract/plugin.ts';
import type { Ports } from '../ports/ports.ts';
import { admission } from './admission/index.ts';
import { approval } from './approval/index.ts';
import { argumentGuard } from './argument-guard/index.ts';
import { audit } from './audit/index.ts';
import { auth } from './auth/index.ts';
import { authorization } from './authorization/index.ts';
import { cache } from './cache/index.ts';
import { chaining } from './chaining/index.ts';
import { fallback } from './fallback/index.ts';
import { idempotency } from './idempotency/index.ts';
import { logging } from './logging/index.ts';
import { metrics } from './metrics/index.ts';
import { modes } from './modes/index.ts';
import { policy } from './policy/index.ts';
import { recording } from './recording/index.ts';
import { replay } from './replay/index.ts';
import { resultGuard } from './result-guard/index.ts';
import { tracing } from './tracing/index.ts';
import { untrustedResult } from './untrusted-result/index.ts';
import { validation } from './validation/index.ts';

/** An extension as the shelf holds it: its options are its own business, its needs are some of the ports. */
export type AnyExtensionPlugin = ExtensionPlugin<unknown, Ports>;

/** For every request, unknown tools included. */
export const REQUEST_EXTENSIONS: readonly AnyExtensionPlugin[] = [
  tracing, // outermost: the span covers everything, and the others know its trace id
  metrics, // counts what callers saw, refusals too
  logging, // the same, as a line
  audit, // nobody is refused without a record; nothing runs that cannot be recorded
  auth, // innermost: everything above must see refused credentials
];

/** For calls whose tool is known; compiled per tool, without what the tool does not use. */
export const TOOL_EXTENSIONS: readonly AnyExtensionPlugin[] = [
  authorization, // before anything is said about the tool's arguments
  untrustedResult, // outside of all that answers, so that every answer of the tool says so
  fallback, // outside of all that may fail or be late, inside of what refuses on purpose
  modes, // inside of fallback, which may stand in for what a mode has no time for; before anything is looked at closely
  validation, // nothing below sees arguments that do not fit
  policy, // on arguments as they will run, and before anything is answered from what is kept
  chaining, // behind policy, whose refusals are no step of the session; outside of what answers from what is kept, which is one
  argumentGuard, // behind validation, which sees what was sent; everything below, records too, sees what was masked
  recording, // what a replay will be asked: valid arguments, and every answer, also one that is given again below
  idempotency, // a repeated call is answered before it is approved, leased or run again
  cache, // behind validation, so that equal arguments are equal; a cached answer leases nothing
  approval, // nothing is leased while a human decides
  resultGuard, // inside of everything that keeps an answer or gives it again
  replay, // where a recording answers: after all that may refuse, and before limits, which count what runs
  admission, // innermost: limits count what runs, and are given back when it ends
];
