// A tool that makes the request its arguments say, of places that a connection lists: one sender for each place and method, with
// the credentials of that place alone.
import type { Connection, ExecutorTarget, PreparedFunction } from '../../../contract/plugin.ts';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolCall } from '../../../contract/call/tool-call.ts';
import { readArgumentUrl } from '../../../lib/egress/argument-url.ts';
import type { SecretScrubber } from '../../../lib/secrets/scrub-secrets.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { EgressPolicy, HttpClient } from '../../../ports/egress/http-client.ts';
import type { HttpConnection } from '../connection-schema.ts';
import { baseOf, Credentials, maskedBase, secretsOf } from '../credentials.ts';
import type { TokenSource } from '../oauth-token.ts';
import type { HttpOptions } from '../options-schema.ts';
import type { CompiledRequest } from '../request/compile-request.ts';
import { renderRequest } from '../request/render-request.ts';
import { requestSender } from '../send-request.ts';
import { compileArguments, unsafe, type Place } from './argument-request.ts';
import { hostsConnectionSchema, type ListedHost, type Method } from './hosts-schema.ts';
import { type BelowPlace, pathOf, placeOf, readLoosely } from './place-of-url.ts';

export interface HostsNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  /** Throws Error for a port that is not reached. */
  readonly egressOf: (said: HttpConnection, url: URL, what: string) => EgressPolicy;
  readonly shareTokens: (
    settings: HttpConnection,
  ) => { readonly held: TokenSource; readonly release: () => unknown } | undefined;
}

interface Way {
  readonly send: PreparedFunction['execute'];
  readonly masked: CompiledRequest;
}

interface PreparedPlace extends Place, BelowPlace {
  readonly scrubber: SecretScrubber;
  readonly ways: ReadonlyMap<string, Way>;
  readonly release: () => unknown;
}

/** Throws Error with a sentence for the operator. */
export function prepareHosts(target: ExecutorTarget<HttpOptions>, needs: HostsNeeds): PreparedFunction {
  const { function: fn, connection } = target;
  if (connection?.type !== 'http-hosts')
    throw new Error('request_from: the connection has to be of the type http-hosts, which lists places.');
  const { properties } = fn.inputSchema;
  if (!isJsonObject(properties) || !Object.hasOwn(properties, 'url'))
    throw new Error(
      'request_from: the input schema has no property "url", which says where the request goes.',
    );
  if (fn.spec.auth?.managed !== undefined)
    throw new Error(
      'auth: the account of an agent belongs to one place, and this tool has those of its connection.',
    );
  const { hosts } = hostsConnectionSchema.parse(connection.settings);
  const places = hosts
    .map((host, at) => prepared(host, at, { target, connection, needs }))
    // The longest first: what it says counts.
    .toSorted((one, other) => other.base.url.pathname.length - one.base.url.pathname.length);
  const choose = (args: JsonObject) => wayOf(args, places);
  return {
    execute: async (call, emit) => choose(call.arguments).way.send(call, emit),
    render: ({ arguments: args }: ToolCall) => {
      const { way, place } = choose(args);
      return renderRequest(way.masked, args, place.scrubber);
    },
    yieldsPlainJson: true,
    close: async () => {
      for (const { release } of places) release();
    },
  };
}

function prepared(
  host: ListedHost,
  at: number,
  given: {
    readonly target: ExecutorTarget<HttpOptions>;
    readonly connection: Connection;
    readonly needs: HostsNeeds;
  },
): PreparedPlace {
  const { target, connection, needs } = given;
  const { methods = ['GET'], caller_headers: names = [], ...said } = host;
  const settings: HttpConnection = { type: 'http', ...said };
  const base = baseOf(settings);
  const egress = needs.egressOf(settings, base.url, `The base_url of hosts[${at}] of "${connection.name}"`);
  const callerHeaders = new Set(names.map((name) => name.toLowerCase()));
  for (const name of [...Object.keys(base.headers), base.laterHeader ?? ''])
    if (callerHeaders.has(name.toLowerCase()))
      throw new Error(`hosts[${at}].caller_headers: the connection sets the header "${name}" itself.`);
  const tokens = needs.shareTokens(settings);
  const credentials = Credentials.of([...secretsOf(settings), ...(connection.secrets ?? [])], tokens?.held);
  const tells = {
    deadline: settings.propagate_deadline ?? false,
    fencingToken: settings.propagate_fencing_token ?? false,
  };
  const { http, clock } = needs;
  const mayRepeat = target.function.spec.metadata.idempotent;
  const strictPath = pathOf(base.url);
  const place = { base, strictPath, callerHeaders };
  const hidden = { ...place, base: maskedBase(base) };
  const ways = methods.map((method): [Method, Way] => {
    const request = { ...target.options, method };
    const compiled = compileArguments(place, method, request, urlOf);
    const send = requestSender({ http, clock, request, compiled, egress, credentials, mayRepeat, tells });
    return [method, { send, masked: compileArguments(hidden, method, request, urlOf) }];
  });
  const release = () => tokens?.release();
  const loosePath = readLoosely(base.url.pathname);
  return { ...place, loosePath, scrubber: credentials.scrubber, ways: new Map(ways), release };
}

/** Throws ToolFailure VALIDATION. */
function urlOf({ url }: JsonObject): URL {
  const read = readArgumentUrl(url);
  if ('message' in read) throw unsafe([{ pointer: '/url', message: read.message }]);
  return read.url;
}

/** Throws ToolFailure. */
function wayOf(args: JsonObject, places: readonly PreparedPlace[]): { way: Way; place: PreparedPlace } {
  const url = urlOf(args);
  const place = placeOf(url, places);
  if (place === undefined) throw notListed(places);
  if (place === 'unclear') throw unsafe([{ pointer: '/url', message: UNCLEAR }]);
  const { method = 'GET' } = args;
  const way = typeof method === 'string' ? place.ways.get(method) : undefined;
  if (way !== undefined) return { way, place };
  throw unsafe([{ pointer: '/method', message: `must be one of ${[...place.ways.keys()].join(', ')} here` }]);
}

const UNCLEAR =
  'must have a path that every server reads as the same: without encoded letters, "//", ";" and capitals that lead elsewhere';
const MOST_SHOWN = 20;

/** Says where a request may go, unless a reference brought that in: then it is a secret. */
function notListed(places: readonly PreparedPlace[]) {
  const message =
    places.length === 0
      ? 'The operator has listed no place that this tool may reach.'
      : 'The operator has not listed this place: details.listed names those that may be reached.';
  const listed = places
    .filter(({ base, scrubber }) => scrubber.text(base.url.href) === base.url.href)
    .slice(0, MOST_SHOWN)
    .map(({ base }) => base.url.href);
  return toolFailure('EGRESS_DENIED', message, {
    origin: 'gateway',
    partialSideEffects: false,
    details: { listed },
  });
}
