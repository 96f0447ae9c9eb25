// The history of calls together with what the journal still holds of it.
import { withDatabase } from '../../infra/postgres/database-failures.ts';
import type { StoredAuditSink } from '../../infra/audit/stored-audit-sink.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';

/** How long a look at the history waits for what is in the journal: a list that lacks the newest rows is better than none. */
const SHIP_WITHIN_MS = 5_000;

/** Whoever asks after a call finds it: what is still in the journal is moved first, as far as that takes no long time. */
export function historyWithJournal(
  history: CallHistory,
  sink: Pick<StoredAuditSink, 'ship' | 'shipWithin' | 'takeIn'>,
): CallHistory {
  const shipped = () => sink.shipWithin(SHIP_WITHIN_MS);
  return {
    calls: (tenantId, query) => shipped().then(() => history.calls(tenantId, query)),
    // Their rows are there before anybody hears of them.
    tasks: (tenantId, query) => history.tasks(tenantId, query),
    audit: (tenantId, query) => shipped().then(() => history.audit(tenantId, query)),
    analytics: (tenantId, query) => shipped().then(() => history.analytics(tenantId, query)),
    sequences: (tenantId, query) => shipped().then(() => history.sequences(tenantId, query)),
    // Page after page of it: what is shipped at the first is enough.
    exportChain: (tenantId, after, limit) =>
      (after === 0 ? shipped() : Promise.resolve()).then(() => history.exportChain(tenantId, after, limit)),
    eraseUser: async (erasure) => {
      // What is not chained yet is of that user, too.
      await withDatabase(() => sink.ship());
      const erased = await history.eraseUser(erasure);
      // Its records are chained now, or in a moment.
      await sink.takeIn().catch(() => undefined);
      return erased;
    },
    resolve: (tenantId, callId, resolution) =>
      shipped().then(() => history.resolve(tenantId, callId, resolution)),
  };
}
