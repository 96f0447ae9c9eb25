// chaining: which tools a session may call behind which. Rules of gateway.yaml; each call that they are about is a step of its session.
import { hash } from 'node:crypto';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ExtensionPlugin, ToolExtension } from '../../contract/plugin.ts';
import type { SteppingSession } from '../../ports/sessions/session-steps.ts';
import { chainingOptionsSchema, type ChainingOptions } from './options.ts';
import { SessionOrder, type OrderNeeds } from './session-order.ts';
import { stepsOf } from './steps-of-tool.ts';

const MISPLACED = 'belongs into gateway.yaml: no tool takes rules away that hold it back';

export const chaining: ExtensionPlugin<ChainingOptions, OrderNeeds> = {
  name: 'chaining',
  summary: 'Holds sessions to an order of calls: this tool only after that one, or not after it.',
  optionsSchema: chainingOptionsSchema,
  check: ({ spec }) =>
    spec.extensions['chaining']?.['rules'] === undefined ? [] : [{ path: ['rules'], message: MISPLACED }],
  create: (needs) => createChaining(new SessionOrder(needs)),
};

function createChaining(order: SessionOrder): ToolExtension<ChainingOptions> {
  return {
    stage: 'tool',
    onFailure: 'deny',
    phases: ['admit', 'run'],
    prepare(fn, options) {
      // Checked at load already; a tool that came another way does not get round the rules of gateway.yaml.
      if (fn.spec.extensions['chaining']?.['rules'] !== undefined) throw new Error(MISPLACED);
      const steps = stepsOf(fn, options);
      if (steps === undefined) return undefined;
      return function holdToOrder(call, next) {
        const session = sessionOf(call);
        if (session !== undefined) return order.walk(call, next, session, steps);
        const [rule] = steps.rules;
        if (rule === undefined) return next(call);
        const message = `The rule ${rule.name} holds this tool to an order of calls: it needs context.session_id.`;
        throw toolFailure('SESSION_REQUIRED', message, { details: { field: 'session_id', rule: rule.name } });
      };
    },
  };
}

/** Its agent's and its user's alone, as answers that are kept for it. */
function sessionOf({ context }: ToolCall): SteppingSession | undefined {
  const { tenantId = '', sessionId = '', agentId = '', userId = '' } = context;
  if (sessionId === '') return undefined;
  const whose = JSON.stringify([tenantId, sessionId, agentId, userId]);
  return { tenant: tenantId, id: hash('sha256', whose, 'base64url') };
}
