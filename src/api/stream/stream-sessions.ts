// The session of a stream: declared by it, or one that it goes on with, and ended with it.
import { holds, type Principal } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { ended, expired, notFound } from '../../sessions/session-failures.ts';
import type { SessionView } from '../../sessions/sessions.ts';
import { admittedFor } from '../rest/management/admitted.ts';
import type { ClientMessageOf } from './messages/client-messages.ts';
import type { StreamParts } from './stream-parts.ts';

/** Rejects with ToolFailure. */
export async function sessionFor(
  { sessions, acts }: Pick<StreamParts, 'sessions' | 'acts'>,
  principal: Principal,
  said: ClientMessageOf<'start'>,
): Promise<SessionView> {
  const { session_id: id, agent_id: agentId, user_id: userId, tenant_id: tenantId, mode } = said;
  if (id === undefined) {
    const act = { action: 'sessions.create', target: '', door: 'stream', targetOf: idOf };
    return acts.perform(admittedFor(principal), act, () =>
      sessions.create(principal, { agentId, userId, tenantId, mode }),
    );
  }
  const view = await sessions.get(principal, id, { agentId, userId });
  // A stream takes the place of the one before it: that is more than to look.
  if (view.session.principalId !== principal.id && !holds(principal, 'sessions:write')) throw notFound();
  if (view.state === 'ended') throw ended();
  if (view.state === 'expired') throw expired();
  return view;
}

/** False: it could not be ended, and is over when it was not used for long enough. */
export async function endSession(
  { sessions, acts, log }: Pick<StreamParts, 'sessions' | 'acts' | 'log'>,
  principal: Principal,
  sessionId: string,
): Promise<boolean> {
  const act = { action: 'sessions.end', target: sessionId, door: 'stream' };
  try {
    await acts.perform(admittedFor(principal), act, () => sessions.end(principal, sessionId));
    return true;
  } catch (err) {
    if (!(err instanceof ToolFailure)) throw err;
    log.warn(
      { session: sessionId, err },
      'the session of a stream that has ended could not be ended: it is over when it was not used for long enough',
    );
    return false;
  }
}

function idOf(made: unknown): string {
  return (made as SessionView).session.id;
}
