// Calls, sessions and approvals as protocol messages, from what REST shows of them: what is null there is left out here.
import { camelCase } from '../../../lib/settings/camel-keys.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import type { WireApproval } from '../../approval-view.ts';
import { callFields } from '../../rest/calls/wire-call.ts';
import { modeNumber } from '../interaction-mode.ts';
import type { sessionFields, WireSession } from '../../session-view.ts';

/** `result`: the envelope that it ended in, as JSON. */
export function callMessage(call: StoredCall, result: string | undefined): object {
  return { ...messageOf(callFields(call)), ...(result !== undefined && { resultJson: Buffer.from(result) }) };
}

export function sessionMessage(session: WireSession | ReturnType<typeof sessionFields>): object {
  const { mode, ...fields } = session;
  const budgets = 'budgets' in session ? session.budgets.map(messageOf) : [];
  return { ...messageOf(fields), budgets, ...(mode !== null && { mode: modeNumber(mode) }) };
}

export function approvalMessage({ arguments: args, would, votes, ...fields }: WireApproval): object {
  return {
    ...messageOf(fields),
    argumentsJson: Buffer.from(JSON.stringify(args)),
    ...(would !== null && { wouldJson: Buffer.from(JSON.stringify(would)) }),
    votes: votes.map(({ for: givenFor, ...vote }) => messageOf({ ...vote, given_for: givenFor })),
  };
}

/** Its fields by their names here. */
export function messageOf(fields: object): object {
  const said = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(said.map(([name, value]) => [camelCase(name), value]));
}
