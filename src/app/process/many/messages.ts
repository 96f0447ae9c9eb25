// What the processes of one gateway tell each other: the primary holds the ports, the others serve.
import type { JsonObject } from '../../../contract/json.ts';

export type Door = 'rest' | 'grpc';
export type MetricsFormat = 'text' | 'openmetrics';

/** How one of the serving processes is, as far as the primary knows. */
export interface ProcessState {
  readonly process: number;
  /** `refusing`: it serves, and refuses calls. `starting`: also once more, after it has ended. */
  readonly state: 'starting' | 'serving' | 'refusing' | 'ending';
  /** Why it refuses. */
  readonly reason?: string;
}

export type ToProcess =
  | { readonly ute: 'connection'; readonly door: Door }
  | { readonly ute: 'states'; readonly states: readonly ProcessState[] }
  | { readonly ute: 'ask'; readonly id: number; readonly what: 'readiness' | MetricsFormat }
  | { readonly ute: 'reload' }
  | { readonly ute: 'stop' };

export interface ReadinessAnswer {
  readonly status: number;
  readonly body: object;
}

export type ToPrimary =
  /** `reason`: it serves, and takes no calls yet. */
  | { readonly ute: 'serving'; readonly pipeline: JsonObject; readonly reason?: string }
  /** Why it takes no calls; null: it takes them again. */
  | { readonly ute: 'refusing'; readonly reason: string | null }
  /** So many connections of the door have ended. */
  | { readonly ute: 'closed'; readonly door: Door; readonly count: number }
  /** It takes no more connections. */
  | { readonly ute: 'ending' }
  | { readonly ute: 'answer'; readonly id: number; readonly answer: ReadinessAnswer | string };

/** Whether it is a message of ours. Both ends are this program, so that no more is looked at. */
export function isMessage(received: unknown): received is ToProcess | ToPrimary {
  return typeof received === 'object' && received !== null && 'ute' in received;
}
