// What streams are made of: the ports behind them, and what the settings say.
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Clock } from '../../ports/clock.ts';
import type { StreamParking } from '../../ports/stream-parking.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { ToolCaller } from '../../ports/tool-caller.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { ManagementActs } from '../rest/management/acts.ts';
import type { StreamMetrics } from './stream-metrics.ts';

export interface StreamTerms {
  readonly maxStreams: number;
  readonly maxPerCredential: number;
  /** How long a stream is kept whose connection was lost. */
  readonly resumeForMs: number;
  /** How long nothing may be said. */
  readonly idleMs: number;
  readonly maxMessageBytes: number;
}

export interface StreamParts {
  readonly caller: Pick<ToolCaller, 'execute'>;
  readonly sessions: Pick<Sessions, 'create' | 'get' | 'nextTurn' | 'end'>;
  readonly acts: Pick<ManagementActs, 'perform'>;
  readonly authenticator: Authenticator;
  readonly parking: StreamParking;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: StreamMetrics;
  readonly terms: StreamTerms;
}
