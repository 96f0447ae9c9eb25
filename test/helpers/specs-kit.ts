// Gateways whose tools are kept in a database, and requests about those tools as an operator makes them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdToDocument } from './documented.ts';
import type { RestTarget } from './rest-client.ts';
import { startGateway, type RunningGateway } from './running-gateway.ts';
import { ECHO_HANDLER } from './temp-tools.ts';

export interface SpecAnswer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: {
    readonly content_hash: string;
    readonly revision: number;
    readonly in_force: boolean;
    readonly changed: boolean;
    readonly registry_version: string;
    readonly reason?: string;
    readonly problems?: readonly {
      readonly tool?: string;
      readonly path?: string;
      readonly message: string;
    }[];
    readonly [field: string]: unknown;
  };
}

/** One tool out of a file, `echo`, below those of the database; `extra` stands below it in the file. */
export function echoFile(dir: string, extra = ''): string {
  const folder = join(dir, 'files');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'echo.mjs'), ECHO_HANDLER);
  const echo =
    'tools:\n  - { name: echo, description: Echoes, tool_type: javascript, input_schema: { additionalProperties: true }, implementation_config: { handler: ./echo.mjs, trusted: true } }\n';
  writeFileSync(join(folder, 'tools.yaml'), echo + extra);
  return join(folder, 'tools.yaml');
}

/** A tool that answers with its edition: what a caller sees of a version. */
export function edition(value: number | string, over: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    description: `Says ${value}`,
    tool_type: 'composite',
    input_schema: { type: 'object', additionalProperties: true },
    implementation_config: {
      steps: [{ id: 'said', tool: 'echo', arguments: { edition: value } }],
      result: 'steps.said.edition',
    },
    ...over,
  };
}

export interface KeptTools {
  readonly file: string;
  readonly database?: string;
  readonly redis?: string;
  readonly loader?: Record<string, unknown>;
  readonly settings?: Record<string, unknown>;
}

export function startKeeping({
  file,
  database,
  redis,
  loader,
  settings,
}: KeptTools): Promise<RunningGateway> {
  const loaders = [
    { type: 'yaml-file', paths: [file] },
    { type: 'postgres', ...loader },
  ];
  return startGateway({
    tools: [],
    settings: {
      loaders,
      ...(database !== undefined && { database: { url: database, ssl: 'disable' } }),
      ...(redis !== undefined && { redis: { url: redis, prefix: 'specs' } }),
      ...settings,
    },
  });
}

/** `text`: a body that is sent as it is. */
export async function specRequest(
  { url, key }: RestTarget,
  method: string,
  path: string,
  options: {
    readonly body?: unknown;
    readonly text?: string;
    readonly headers?: Record<string, string>;
  } = {},
): Promise<SpecAnswer> {
  const { body, text = body === undefined ? undefined : JSON.stringify(body), headers } = options;
  const response = await fetch(`${url}/v1/specs${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: text,
  });
  const { status, headers: told } = response;
  const answer = await response.text();
  holdToDocument({ method, path: `/v1/specs${path}`, status, type: told.get('content-type'), text: answer });
  return { status, etag: told.get('etag'), body: JSON.parse(answer) as SpecAnswer['body'] };
}

export function putSpec(
  target: RestTarget,
  name: string,
  body: unknown,
  headers?: Record<string, string>,
): Promise<SpecAnswer> {
  return specRequest(target, 'PUT', `/${name}?note=test`, { body, headers });
}
