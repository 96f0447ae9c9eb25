// OpenAdmission: a call on its way to being admitted. Whoever keeps it does so while all that stands around the call waits.
import type { Admission, Admitted, AdmitRequest, KeptCall } from '../contract/call/admission.ts';
import type { AdmittedCall, Grant } from '../contract/call/admitted-call.ts';
import type { JsonObject } from '../contract/json.ts';
import type { Principal } from '../contract/call/principal.ts';
import type { Phase, ToolCall } from '../contract/call/tool-call.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import { isUnsafe } from '../contract/tool/tool-spec.ts';

type AdmitPhase = Phase & { readonly kind: 'admit' };

export class OpenAdmission implements AdmitPhase {
  readonly kind = 'admit';
  readonly terms?: JsonObject;
  readonly awaitsApproval?: true;
  readonly #admitted = Promise.withResolvers<Omit<Admitted, 'kept' | 'failed'>>();
  /** Settles with where the call is kept. */
  readonly #keeping = Promise.withResolvers<KeptCall>();

  constructor({ terms, awaitsApproval }: Pick<AdmitRequest, 'terms' | 'awaitsApproval'>) {
    if (terms !== undefined) this.terms = terms;
    if (awaitsApproval !== undefined) this.awaitsApproval = awaitsApproval;
  }

  /** Either the call has come through, or it has its answer. `response` never rejects. */
  async outcome(response: Promise<ToolResponse>): Promise<Admission> {
    const { resolve, reject } = this.#keeping;
    const open = async (): Promise<Admission> => ({
      ...(await this.#admitted.promise),
      kept: (where) => (resolve(where), response),
      failed: (error) => (reject(error), response),
    });
    const answered = async (): Promise<Admission> => ({ admitted: false, response: await response });
    return Promise.race([open(), answered()]);
  }

  /** By the innermost of the call's chain. Gives where it is kept, or rejects with what kept it from being. */
  reached(call: ToolCall, fn: ToolFunction): Promise<KeptCall> {
    const { request, principal, snapshot, progress } = call;
    if (principal === undefined) throw new Error('a call can be admitted only behind auth');
    this.#admitted.resolve({
      admitted: true,
      call: admittedCall(call, fn, principal),
      function: fn,
      door: request.door,
      registryVersion: snapshot.version,
      traceId: progress.traceId,
      ...(progress.awaited !== undefined && { awaited: progress.awaited }),
    });
    return this.#keeping.promise;
  }
}

/** Throws Error for a call that UnifiedToolExecutor did not open to be admitted. */
export function admissionOf({ phase }: ToolCall): OpenAdmission {
  if (phase instanceof OpenAdmission) return phase;
  throw new Error('nobody keeps this call for later');
}

function admittedCall(call: ToolCall, fn: ToolFunction, principal: Principal): AdmittedCall {
  const { confirmationToken, ...context } = call.context;
  const { timeoutMs, providerCallId } = call.request;
  const { approvedFor, versionSource } = call.progress;
  return {
    callId: call.id,
    tool: fn.name,
    arguments: call.arguments,
    context,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(providerCallId !== undefined && { providerCallId }),
    toolHash: fn.spec.contentHash,
    ...(versionSource !== undefined && { versionSource }),
    keepsVersion: true,
    approved: approvedFor !== undefined || confirmationToken !== undefined || isUnsafe(fn.spec.metadata),
    ...(approvedFor !== undefined && { runs: approvedFor }),
    grant: {
      principalId: principal.id,
      tenantId: principal.tenantId,
      permissions: [...principal.permissions],
      ...tokenOf(principal),
    },
  };
}

/** A key can be looked up when the call runs; a token is gone by then. */
function tokenOf({ token, agents, userId }: Principal): Pick<Grant, 'token'> {
  if (token === undefined) return {};
  return { token: { groups: token.groups, agents, ...(userId !== undefined && { userId }) } };
}
