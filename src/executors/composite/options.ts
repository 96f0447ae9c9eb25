// What a composite's options hold once they are read, and their bounds.
import type { JsonObject } from '../../contract/json.ts';

export const MAX_STEPS = 50;
export const MAX_ITEMS = 100;
export const MAX_CONCURRENCY = 10;

export interface StepOptions {
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly when?: string;
  readonly for_each?: string;
  readonly max_items?: number;
  readonly concurrency?: number;
  readonly on_error: 'stop' | 'continue';
}

export interface CompositeOptions {
  readonly steps: readonly (StepOptions | { readonly parallel: readonly StepOptions[] })[];
  readonly result?: string;
  /** What each tool of the steps ran when a human agreed to them. */
  readonly agreed?: { readonly [tool: string]: string };
}
