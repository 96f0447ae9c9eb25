// RegistrySnapshot: one immutable set of tools. A call keeps the snapshot it began with.
import type { ToolFunction } from './tool-function.ts';
import type { ToolSpec } from './tool-spec.ts';

export interface RegistrySnapshot {
  /** Content-based: `1.0.` and 8 hex characters; equal content gives an equal version on every replica. */
  readonly version: string;
  readonly specs: readonly ToolSpec[];
  /** Everything callable but tools on trial, which stand in for others; sorted by name. */
  readonly functions: readonly ToolFunction[];
  /** By own name or by the provider's spelling of it (`google_calendar__list_events`). */
  find(name: string): ToolFunction | undefined;
  /** The spelling providers accept for a function's name: at most 64 of [A-Za-z0-9_-]. */
  providerName(functionName: string): string;
}
