// What /readyz answers, on the REST port and on the metrics port alike.
import type { Readiness } from '../tokens.ts';

export interface ProbeAnswer {
  readonly status: 200 | 503;
  readonly body: object;
}

export function readinessAnswer(readiness: Readiness): ProbeAnswer {
  const reason = readiness.notReady();
  const degraded = readiness.degraded();
  const notes = readiness.notes();
  const isDegraded = Object.keys(degraded).length > 0;
  return {
    status: reason === undefined ? 200 : 503,
    body: {
      ...(reason === undefined
        ? { status: isDegraded ? 'degraded' : 'ok' }
        : { status: 'unavailable', reason }),
      ...(isDegraded ? { degraded } : {}),
      ...(Object.keys(notes).length > 0 ? { notes } : {}),
      parts: readiness.parts(),
      sandbox: readiness.sandbox(),
      executors: readiness.executors(),
    },
  };
}
