// Toolbox: the tools of a dialog, whoever runs them. That of the gateway is `gatewayTools`.
import type { GatewayClient } from '../client/client.ts';
import type { CallOptions } from '../client/call-options.ts';
import type { ToolFilter, ToolFormat } from '../client/tools.ts';
import { ConnectionError, DeadlineError, GatewayError } from '../errors/gateway-error.ts';
import type { Envelope, Refusal } from '../generated/gateway.ts';

export type ProviderFormat = Exclude<ToolFormat, 'prompt'>;

/** One tool, in words that every framework knows. */
export interface ToolFace {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface Toolbox {
  /** As the SDK of a provider takes them. */
  readonly as: (format: ProviderFormat, signal?: AbortSignal) => Promise<unknown>;
  readonly list: (signal?: AbortSignal) => Promise<ToolFace[]>;
  /** Never rejects for what a model asks: that is an answer for the model. */
  readonly call: (name: string, args: object, options?: CallOptions) => Promise<Envelope>;
}

export interface GatewayToolsOptions {
  /** Which tools; what the credential may not call is not listed. */
  readonly filter?: ToolFilter;
  readonly strict?: boolean;
  /** Of every call. */
  readonly call?: CallOptions;
}

export function gatewayTools(client: GatewayClient, options: GatewayToolsOptions = {}): Toolbox {
  const { filter = {}, strict, call: shared = {} } = options;
  return {
    as: (format, signal) => client.tools.as<unknown>(format, { ...filter, ...(strict !== undefined && { strict }) }, { signal }), // oxfmt-ignore
    async list(signal) {
      const tools = await client.tools.list(filter, { signal });
      return tools
        .filter(({ disabled, deprecated }) => !disabled && !deprecated)
        .map(({ provider_name: name, description, input_schema: inputSchema }) => ({
          name,
          description,
          inputSchema,
        }));
    },
    async call(name, args, own = {}) {
      // Such a name, of a model that made one up, leads to no tool.
      if (/^\.{0,2}$/.test(name))
        return refused('NOT_FOUND', 'TOOL_NOT_FOUND', `There is no tool "${name}".`);
      try {
        return await client.tryExecute(name, args, { ...shared, ...own });
      } catch (error) {
        if (error instanceof GatewayError) return refused(error.type, error.reason, error.message);
        if (error instanceof DeadlineError) return mayHaveRun('TIMEOUT', error.message);
        if (error instanceof ConnectionError && error.notSent)
          return refused('UNAVAILABLE', 'NO_CONNECTION', 'The tools cannot be reached now.');
        if (error instanceof ConnectionError) return mayHaveRun('UNAVAILABLE', 'There was no answer.');
        throw error;
      }
    },
  };
}

/** An answer in the gateway's own form, to what never got there. */
export function refused(type: Refusal['error']['type'], reason: string, message: string): Refusal {
  return {
    ok: false,
    error: {
      type,
      message,
      reason,
      retryable: false,
      partial_side_effects: false,
      origin: 'caller',
      retry_after_ms: null,
      details: {},
    },
    meta: {
      schema_version: '1.0.0',
      call_id: '',
      tool: '',
      tool_version: '',
      executor: '',
      duration_ms: 0,
      attempts: 0,
      cached: false,
      replayed: false,
      fallback: false,
      degraded: [],
      registry_version: '',
      trace_id: '',
    },
  };
}

function mayHaveRun(type: 'TIMEOUT' | 'UNAVAILABLE', message: string): Refusal {
  const refusal = refused(type, 'NO_ANSWER', `${message} The call may have run.`);
  return { ...refusal, error: { ...refusal.error, origin: 'gateway', partial_side_effects: true } };
}

/** What a model reads of an answer. */
export function textOfAnswer(envelope: Envelope): string {
  if (envelope.ok) return typeof envelope.data === 'string' ? envelope.data : JSON.stringify(envelope.data);
  const { type, reason, message, retryable, details } = envelope.error;
  const { violations, approval_id: approvalId } = details ?? {};
  return JSON.stringify({
    error: {
      type,
      reason,
      message,
      retryable,
      ...(violations !== undefined && { violations }),
      ...(approvalId !== undefined && { approval_id: approvalId }),
    },
  });
}
