// Policies by REST: how a call would be decided.
import { Controller, Inject } from '@nestjs/common';
import type { Grant } from '../../../contract/call/admitted-call.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { Explanation } from '../../../contract/call/explanation.ts';
import { holds, type Principal } from '../../../contract/call/principal.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { agreedContext } from '../../agreed-context.ts';
import { readContext } from '../../read-context.ts';
import { AUTHENTICATOR, TOOL_CALLER } from '../../tokens.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { credentialOf } from '../server/credential.ts';
import { tenantBeside } from '../server/tenant-beside.ts';
import type { WireOf } from '../route/shapes.ts';
import { ChosenVersion, explainPolicy, PolicyDecision, type PolicyExplanation } from './schema.ts';

@Controller()
export class PolicyController {
  constructor(
    @Inject(TOOL_CALLER) private readonly caller: Pick<ToolCaller, 'explain'>,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  @Serves(explainPolicy)
  @Requires('policies:explain')
  async explain({ principal, body, request }: Asked<typeof explainPolicy>) {
    const { tool, arguments: args = {}, context, key_id: keyId } = body;
    const as = keyId === undefined ? undefined : this.#grantOf(keyId, principal);
    const explanation = await this.caller.explain({
      tool,
      arguments: args,
      context: agreedContext(readContext(context), tenantBeside(principal, request), 'header'),
      credential: credentialOf(request),
      door: 'rest',
      ...(as !== undefined && { as }),
    });
    const shown = wireExplanation(tool, explanation);
    // What rules there are for others is the platform's business.
    const rules = shown.rules.filter(({ outcome }) => outcome !== 'other tenants');
    return holds(principal, PLATFORM) ? shown : { ...shown, rules };
  }

  /** Throws ToolFailure NOT_FOUND for a key of another tenant, as for one that is not there. */
  #grantOf(keyId: string, { tenantId }: Principal): Grant {
    const other = this.#recalled({ principalId: keyId, tenantId, permissions: [] });
    if (other?.tenantId !== tenantId) throw toolFailure('KEY_NOT_FOUND', 'There is no key of this id.');
    return { principalId: other.id, tenantId, permissions: [...other.permissions] };
  }

  #recalled(grant: Grant): Principal | undefined {
    try {
      return this.authenticator.recall(grant);
    } catch (error) {
      if (error instanceof ToolFailure) return undefined;
      throw error;
    }
  }
}

function wireExplanation(tool: string, { refusal, told }: Explanation): WireOf<typeof PolicyExplanation> {
  const version = told['version'] === undefined ? null : ChosenVersion().parse(told['version']);
  if (refusal !== undefined) {
    const { type, reason, message, details } = refusal.error;
    const shown = { type, reason, message, details };
    return { tool, decision: 'refused', rule: null, rules: [], version, refusal: shown };
  }
  const { policy = NO_RULES } = told;
  return { tool, ...PolicyDecision().parse(policy), version, refusal: null };
}

const NO_RULES = { decision: 'none', rule: null, rules: [] };
