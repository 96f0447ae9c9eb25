// What `ute policy test` asks: how the rules of these settings and tools decide about calls that nobody makes.
import type { Explanation } from '../../contract/call/explanation.ts';
import { unknownRole, type Principal } from '../../contract/call/principal.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { readContext } from '../../api/read-context.ts';
import { identityOfRecord } from '../../infra/keys/known-key.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { withUnservedGateway } from './validate-tools.ts';

export interface ImaginedCall {
  readonly name: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** As a caller writes it. */
  readonly context: JsonObject;
  readonly caller: {
    readonly key: string;
    readonly tenant: string;
    readonly user?: string | undefined;
    readonly roles: readonly string[];
  };
}

export interface PolicyTest {
  /** Of the tools; where there are any, nothing is explained. */
  readonly problems: readonly Problem[];
  /** In the order of the calls. */
  readonly explanations: readonly Explanation[];
}

/** Throws Error that names the call whose context or role is not one, or with what keeps such a gateway from being made. */
export async function testPolicies(settings: Settings, calls: readonly ImaginedCall[]): Promise<PolicyTest> {
  const authenticator = new ImaginedCallers(calls, settings);
  const contexts = calls.map(({ name, context }) => inCase(name, () => readContext(context)));
  return withUnservedGateway(settings, { online: false, authenticator }, async (gateway, { problems }) => {
    if (problems.length > 0) return { problems, explanations: [] };
    const explanations: Explanation[] = [];
    for (const [index, { tool, arguments: args }] of calls.entries()) {
      const credential = { kind: 'bearer', token: String(index) } as const;
      const context = contexts[index] ?? {};
      explanations.push(
        await gateway.executor.explain({ tool, arguments: args, context, credential, door: 'cli' }),
      );
    }
    return { problems, explanations };
  });
}

function inCase<Value>(name: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new Error(`case "${name}": ${(error as Error).message}`, { cause: error });
  }
}

/** A call's credential is its place in the list. */
class ImaginedCallers implements Authenticator {
  readonly #principals: readonly Principal[];

  constructor(calls: readonly ImaginedCall[], { auth }: Settings) {
    this.#principals = calls.map(({ name, caller: { key, tenant, user = null, roles } }) => {
      const unknown = unknownRole(roles, auth.roles);
      if (unknown !== undefined) throw new Error(`case "${name}": there is no role "${unknown}"`);
      const record = { id: key, tenant, tenants: null, agents: ['*'], user, roles };
      return identityOfRecord(record, auth.roles).principal;
    });
  }

  authenticate(credential: Parameters<Authenticator['authenticate']>[0]): Principal {
    const at = credential.kind === 'bearer' ? Number(credential.token) : Number.NaN;
    const principal = this.#principals[at];
    if (principal === undefined) throw new Error('there is no such call');
    return principal;
  }

  recall(): Principal {
    throw new Error('no call of these was made before');
  }
}
