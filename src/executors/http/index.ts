// The http executor: a tool is one request to a fixed upstream, with typed places for the arguments.
import { createHash } from 'node:crypto';
import { isJsonObject } from '../../contract/json.ts';
import type {
  Connection,
  Executor,
  ExecutorPlugin,
  ExecutorTarget,
  PreparedFunction,
} from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { SharedLeases } from '../../lib/concurrency/shared-leases.ts';
import { egressOf, portProblem } from '../../lib/egress/egress.ts';
import { int64PlacesOf } from '../../lib/json-schema/int64-places.ts';
import type { SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EgressPolicy, HttpClient } from '../../ports/egress/http-client.ts';
import { compileRequest } from './request/compile-request.ts';
import { httpConnectionSchema, type HttpConnection } from './connection-schema.ts';
import { baseOf, Credentials, maskedBase, secretsOf } from './credentials.ts';
import { hostsConnectionSchema } from './hosts/hosts-schema.ts';
import { prepareHosts, type HostsNeeds } from './hosts/prepare-hosts.ts';
import { TokenSource } from './oauth-token.ts';
import { httpOptionsSchema, type HttpOptions, type RequestOptions } from './options-schema.ts';
import { renderRequest } from './request/render-request.ts';
import { valuesFor } from './request/agent-values.ts';
import { slotsOfOptions, slotsOfRequest } from './request/request-slots.ts';
import { requestSender } from './send-request.ts';
import { requireTokenHost, withAccountToken } from './account-token.ts';
import { httpSettingsSchema, type HttpSettings } from './settings.ts';

export type { HttpOptions } from './options-schema.ts';

export interface HttpNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly settings: HttpSettings;
}

const MAX_TOKEN_ANSWER_BYTES = 64 * 1024;

export const httpExecutor: ExecutorPlugin<HttpOptions, HttpNeeds> = {
  name: 'http',
  summary:
    'Calls a REST API: fixed scheme, host and path, arguments in typed places, guarded egress, no redirects, bounded answers.',
  optionsSchema: httpOptionsSchema,
  settingsSchema: httpSettingsSchema,
  connectionTypes: { http: httpConnectionSchema, 'http-hosts': hostsConnectionSchema },
  placeholders: slotsOfOptions,
  create: (needs) => new HttpExecutor(needs),
};

class HttpExecutor implements Executor<HttpOptions> {
  readonly #needs: HttpNeeds;
  /** One for all functions of a connection, by its content: they share one token. */
  readonly #tokens = new SharedLeases<TokenSource>(async () => undefined);

  constructor(needs: HttpNeeds) {
    this.#needs = needs;
  }

  prepare(target: ExecutorTarget<HttpOptions>): PreparedFunction {
    const { function: fn, options, connection } = target;
    if (options.request_from !== undefined) return prepareHosts(target, this.#hostsNeeds());
    const settings = settingsOf(options, connection);
    const base = settings && baseOf(settings);
    const request = withAccountToken(requestOf(options, fn), base, fn.spec.auth?.managed);
    const parameters = parametersOf(fn);
    const integers = int64PlacesOf(fn.inputSchema);
    const compiled = compileRequest(request, base, parameters, integers);
    // What a dry run shows is compiled for it: kept for every tool, it would be a third of what a tool takes in memory.
    const masked = () => compileRequest(request, base && maskedBase(base), parameters, integers);
    requireTokenHost(fn.spec.auth?.managed, new URL(compiled.origin));
    const egress = this.#egressOf(settings ?? options, new URL(compiled.origin), placeOf(options));
    const tokens = settings && this.#shareTokens(settings);
    const secrets = [...(settings === undefined ? [] : secretsOf(settings)), ...(connection?.secrets ?? [])];
    const credentials = Credentials.of(secrets, tokens?.held);
    const { http, clock } = this.#needs;
    const mayRepeat = fn.spec.metadata.idempotent;
    const tells = {
      deadline: settings?.propagate_deadline ?? false,
      fencingToken: settings?.propagate_fencing_token ?? false,
    };
    const valuesOf = valuesFor(slotsOfRequest(request).map(({ name }) => name));
    const send = requestSender({ http, clock, request, compiled, egress, credentials, mayRepeat, tells });
    return {
      upstream: upstreamOf(new URL(compiled.origin), connection?.name, credentials.scrubber),
      execute: send,
      render: (call) => renderRequest(masked(), valuesOf(call), credentials.scrubber),
      yieldsPlainJson: true,
      close: async () => tokens?.release(),
    };
  }

  #hostsNeeds(): HostsNeeds {
    return {
      http: this.#needs.http,
      clock: this.#needs.clock,
      egressOf: (said, url, what) => this.#egressOf(said, url, what),
      shareTokens: (settings) => this.#shareTokens(settings),
    };
  }

  /** What the connection or the tool says, and what gateway.yaml allows every http tool. Throws Error for another port. */
  #egressOf(said: Parameters<typeof egressOf>[0], url: URL, what: string): EgressPolicy {
    const { allowPorts, allowPrivate } = this.#needs.settings;
    const ports = [...(said.allow_ports ?? []), ...allowPorts];
    const ranges = [...(said.allow_private ?? []), ...allowPrivate];
    const egress = egressOf({ ...said, allow_ports: ports, allow_private: ranges }, url);
    const problem = portProblem(egress, url, what);
    if (problem !== undefined) throw new Error(problem);
    return egress;
  }

  #shareTokens(settings: HttpConnection) {
    const { auth } = settings;
    if (auth?.type !== 'oauth2_client_credentials') return undefined;
    const egress = this.#egressOf(settings, new URL(auth.token_url), 'The token_url of its connection');
    const key = createHash('sha256')
      .update(JSON.stringify([auth, egress]))
      .digest('hex');
    const fetch = this.#needs.http.fetch(egress, MAX_TOKEN_ANSWER_BYTES);
    return this.#tokens.lease(key, () => new TokenSource(auth, { fetch, clock: this.#needs.clock }));
  }
}

function placeOf({ connection }: HttpOptions): string {
  return connection === undefined ? 'Its url' : `The base_url of the connection "${connection}"`;
}

function requestOf({ actions, ...own }: HttpOptions, { action }: ToolFunction): RequestOptions {
  if (action === undefined) {
    if (actions === undefined) return own;
    throw new Error('implementation_config.actions is given, but the tool declares no actions.');
  }
  const request =
    actions !== undefined && Object.hasOwn(actions, action.name) ? actions[action.name] : undefined;
  if (request !== undefined) return request;
  throw new Error(`implementation_config.actions has no request for the action "${action.name}".`);
}

/** Shown to operators: a connection's name stands for a host that came from a reference. */
function upstreamOf({ hostname, port, protocol }: URL, connection = '', scrubber: SecretScrubber): string {
  const shown = scrubber.text(hostname) === hostname ? hostname : connection;
  return `http:${shown}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

function settingsOf(options: HttpOptions, connection: Connection | undefined): HttpConnection | undefined {
  if (options.connection === undefined) return undefined;
  if (connection === undefined) throw new Error(`There is no connection "${options.connection}".`);
  if (connection.type === 'http-hosts')
    throw new Error('A connection of the type http-hosts is for request_from: arguments.');
  return httpConnectionSchema.parse(connection.settings);
}

function parametersOf({ inputSchema }: ToolFunction): readonly string[] {
  const properties = inputSchema['properties'];
  return isJsonObject(properties) ? Object.keys(properties) : [];
}
