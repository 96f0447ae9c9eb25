// The metadata of a call: what the connection brings, what is configured for the calling agent, and what the call is.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { shownFencingToken } from '../../lib/egress/fencing-token.ts';
import { connectionMetadata } from '../../lib/grpc/connection-metadata.ts';
import type { GrpcConnection } from '../../lib/grpc/grpc-connection.ts';
import { SECRET_MARK } from '../../lib/secrets/scrub-secrets.ts';
import { isHeaderValue } from '../../lib/text/header-rules.ts';
import { parseTemplate } from '../../lib/text/template.ts';
import { traceHeaders } from '../../lib/trace/trace-context.ts';
import type { GrpcOptions } from './options-schema.ts';

type Metadata = { readonly [name: string]: string };

export interface CallMetadata {
  of(call: ToolCall): Metadata;
  /** For showing: a mark in the place of every value that is or may be a secret. */
  masked(call: ToolCall): Metadata;
  readonly secrets: readonly string[];
}

export function callMetadata(connection: GrpcConnection, options: GrpcOptions): CallMetadata {
  const { headers: own, secrets } = connectionMetadata(connection);
  const templates = Object.entries(options.metadata ?? {}).map(([name, text]) => ({
    name: name.toLowerCase(),
    template: parseTemplate(text, { ofAgent: true }),
  }));
  const clash = templates.find(({ name }) => Object.hasOwn(own, name));
  if (clash !== undefined) throw new Error(`The metadata "${clash.name}" is set by the connection already.`);
  const filled = ({ config, sensitiveConfig }: ToolCall, isMasked: boolean): Metadata =>
    Object.fromEntries(
      templates.flatMap(({ name, template }) => {
        const values = template.names.map((each) => valueOf(each, config, sensitiveConfig));
        if (values.includes(undefined)) return [];
        const text = template.parts
          .map((part) =>
            typeof part === 'string' ? part : (values[template.names.indexOf(part.name)] ?? ''),
          )
          .join('');
        if (!isHeaderValue(text)) throw notText(name);
        const isSecret = template.names.some((each) => each.startsWith('sensitive_config.'));
        return [[name, isMasked && isSecret ? SECRET_MARK : text]];
      }),
    );
  return {
    of: (call) => ({ ...own, ...filled(call, false), ...toldOf(call, connection) }),
    masked: (call) => ({
      ...Object.fromEntries(Object.keys(own).map((name) => [name, SECRET_MARK])),
      ...filled(call, true),
    }),
    secrets,
  };
}

function toldOf(call: ToolCall, { propagate_fencing_token: fencing }: GrpcConnection): Metadata {
  const token = fencing === true ? shownFencingToken(call.progress) : undefined;
  return {
    'x-ute-call-id': call.id,
    ...traceHeaders(call.context),
    ...(token !== undefined && { 'x-ute-fencing-token': token }),
  };
}

function valueOf(
  name: string,
  config: ToolCall['config'],
  sensitive: ToolCall['sensitiveConfig'],
): string | undefined {
  const [part, field = ''] = name.split('.');
  const from = part === 'sensitive_config' ? sensitive : config;
  const value = Object.hasOwn(from, field) ? from[field] : undefined;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function notText(name: string): ToolFailure {
  return toolFailure(
    'TOOL_NOT_CONFIGURED',
    `What the agent has configured for the metadata "${name}" is not printable ASCII on one line.`,
    {
      partialSideEffects: false,
    },
  );
}
