// An erasure reaches the accounts that the user connected, too: their tokens go here, and at the provider.
import type { KeepConnection } from '../../core/oauth/keep-connection.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';

export function historyWithAccounts(
  history: CallHistory,
  keeper: Pick<KeepConnection, 'endOfUser'>,
): CallHistory {
  return {
    calls: (tenantId, query) => history.calls(tenantId, query),
    tasks: (tenantId, query) => history.tasks(tenantId, query),
    audit: (tenantId, query) => history.audit(tenantId, query),
    analytics: (tenantId, query) => history.analytics(tenantId, query),
    sequences: (tenantId, query) => history.sequences(tenantId, query),
    exportChain: (tenantId, after, limit) => history.exportChain(tenantId, after, limit),
    resolve: (tenantId, callId, resolution) => history.resolve(tenantId, callId, resolution),
    // First: while the database is away, nothing of this is half done that would not be found again.
    eraseUser: async (erasure) => {
      const accounts = await keeper.endOfUser(erasure.tenantId, erasure.userId);
      return { ...(await history.eraseUser(erasure)), accounts };
    },
  };
}
