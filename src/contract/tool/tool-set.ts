// ToolSet: one immutable set of tools, as whoever serves a call sees it. A call keeps the set it began with.
import type { KnownTool, ToolFunction } from './tool-function.ts';
import type { ToolSpec } from './tool-spec.ts';

export interface ToolSet {
  /** Content-based: `1.0.` and 8 hex characters; equal content gives an equal version on every replica. */
  readonly version: string;
  /** sha256 of what the version is made from, hex. */
  readonly contentHash: string;
  readonly specs: readonly ToolSpec[];
  /** Everything callable but tools on trial, which stand in for others; sorted by name. */
  readonly functions: readonly ToolFunction[];
  /** By own name or by the provider's spelling of it (`google_calendar__list_events`). */
  find(name: string): KnownTool | undefined;
  /** The spelling providers accept for a function's name: at most 64 of [A-Za-z0-9_-]. */
  providerName(functionName: string): string;
}
