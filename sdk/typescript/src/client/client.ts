// GatewayClient: the gateway as an agent's developer uses it.
import { errorOfRefusal } from '../errors/gateway-error.ts';
import type { Envelope, Success } from '../generated/gateway.ts';
import { Analytics } from './analytics.ts';
import { Approvals } from './approvals.ts';
import { AcceptedCall } from './accepted-call.ts';
import { withApprovalUrl } from './approval-url.ts';
import {
  policyOf,
  type CallContext,
  type CallDefaults,
  type CallOptions,
  type Retries,
} from './call-options.ts';
import type { CallRoute } from './call-route.ts';
import { Deadline } from './deadline.ts';
import { Requests, type RequestOptions, type Route, type Terms } from './requests.ts';
import { restCalls } from './rest-call.ts';
import { idempotencyKeyOf, sendCall, type Answered, type SendOnce } from './send-call.ts';
import { Sessions } from './sessions.ts';
import type { StreamStart } from '../stream/messages.ts';
import { ToolStream } from '../stream/tool-stream.ts';
import { webSocketLines, type SocketClass } from '../stream/web-socket-line.ts';
import { Tools } from './tools.ts';
import { Transport, type TokenSource } from './transport.ts';
import { untilDecided } from './wait-for-approval.ts';

export interface ClientOptions {
  /** Left out: the environment's UTE_URL, or http://127.0.0.1:8080. */
  readonly url?: string;
  /** Left out: the environment's UTE_API_KEY. */
  readonly apiKey?: string;
  /** Instead of a key: asked before each request, and with `refresh: true` where the gateway has refused the last one. */
  readonly token?: TokenSource;
  /** Of a credential that serves several tenants: which one. */
  readonly tenant?: string;
  /** Of every call: agent, user, session, mode. */
  readonly context?: CallContext;
  readonly timeoutMs?: number;
  readonly retry?: Retries;
  /** False: no keys are made, and a call whose answer is lost is not sent again. */
  readonly idempotencyKeys?: boolean;
  readonly fetch?: typeof fetch;
  /** For streams, where the platform has none: that of the package ws. */
  readonly WebSocket?: SocketClass;
  /** From `overGrpc`: calls and streams go over gRPC, everything else over REST. */
  readonly grpc?: CallRoute;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';
const DEFAULT_TIMEOUT_MS = 60_000;
const NEVER_REACHED = /^\.{0,2}$/;

/** What a tool returned. `data` is any JSON; `Data` is what the caller takes it for. */
export type CallResult<Data = unknown> = Omit<Success, 'data'> & { readonly data: Data };

export class GatewayClient {
  readonly tools: Tools;
  readonly analytics: Analytics;
  readonly approvals: Approvals;
  readonly sessions: Sessions;
  readonly #options: ClientOptions;
  readonly #transport: Transport;
  readonly #defaults: CallDefaults;
  readonly #requests: Requests;
  readonly #calls: SendOnce;

  constructor(options: ClientOptions = {}) {
    const { context = {}, timeoutMs = DEFAULT_TIMEOUT_MS, retry, idempotencyKeys = true } = options;
    this.#options = options;
    this.#defaults = { context, timeoutMs, retry: policyOf(retry), idempotencyKeys };
    this.#transport = new Transport({
      url: options.url ?? fromEnvironment('UTE_URL') ?? DEFAULT_URL,
      apiKey: options.apiKey ?? (options.token === undefined ? fromEnvironment('UTE_API_KEY') : undefined),
      token: options.token,
      tenant: options.tenant,
      fetch: options.fetch,
    });
    this.#requests = new Requests(this.#transport, this.#defaults);
    this.#calls = options.grpc?.calls(this.#transport) ?? restCalls(this.#transport);
    this.tools = new Tools(this.#requests, context);
    this.analytics = new Analytics(this.#requests);
    this.approvals = new Approvals(this.#requests);
    this.sessions = new Sessions(this.#requests, (sessionId) => this.with({ session_id: sessionId }));
  }

  /** The same client, for calls of this agent, user, session or mode. */
  with(context: CallContext): GatewayClient {
    return new GatewayClient({ ...this.#options, context: { ...this.#options.context, ...context } });
  }

  /** Calls a tool. Rejects with the class of the error's type where it did not succeed. */
  async execute<Data = unknown>(
    tool: string,
    args: object = {},
    options: CallOptions = {},
  ): Promise<CallResult<Data>> {
    return succeeded(await this.#call(tool, args, options)) as CallResult<Data>;
  }

  /** Calls a tool, and gives the envelope whatever it says. Rejects only where there was no answer. */
  async tryExecute(tool: string, args: object = {}, options: CallOptions = {}): Promise<Envelope> {
    return (await this.#call(tool, args, options)).envelope;
  }

  /** Has the gateway accept a call now and run it later; where a human has to approve it, it waits for that by itself. */
  async start(
    tool: string,
    args: object = {},
    options: CallOptions & { readonly callback?: { readonly url: string } } = {},
  ): Promise<AcceptedCall> {
    const key = idempotencyKeyOf(options, this.#defaults.idempotencyKeys);
    const async = { callback: options.callback };
    const answered = await this.#send(
      { tool, arguments: args, options, key, async },
      restCalls(this.#transport),
    );
    const { meta } = succeeded(answered);
    if (meta.call_url === undefined) throw new TypeError('The gateway did not accept the call for later.');
    return new AcceptedCall(this.#requests, meta.call_url, meta);
  }

  /** A call that was accepted before, by its id or its call_url. */
  accepted(idOrUrl: string): AcceptedCall {
    return new AcceptedCall(this.#requests, idOrUrl.startsWith('/') ? idOrUrl : `/v1/calls/${idOrUrl}`);
  }

  /**
   * Begins a stream that pauses at calls: for the agent, user, session and mode of the client, unless `said` names others. It goes on
   * over lost connections until it is ended, or the signal aborts.
   */
  async stream(
    said: StreamStart = {},
    { timeoutMs, signal }: Omit<Terms, 'headers'> = {},
  ): Promise<ToolStream> {
    const { context, timeoutMs: usualMs } = this.#defaults;
    const { session_id, agent_id, user_id, tenant_id, mode, language } = context;
    const start = { ...defined({ session_id, agent_id, user_id, tenant_id, mode, language }), ...said };
    const open = this.#options.grpc?.lines ?? webSocketLines(this.#transport.base, this.#options.WebSocket);
    const needs = { open, speaker: this.#transport };
    const stream = await ToolStream.begin(needs, start, new Deadline(timeoutMs ?? usualMs, signal));
    signal?.addEventListener('abort', () => stream.close(), { once: true });
    return stream;
  }

  /** Lets go of the connection of gRPC. A client without it holds nothing. */
  close(): void {
    this.#options.grpc?.close();
  }

  /** Any other route of the gateway: `client.request('GET /v1/agents/{agent}', { path: { agent: 'reception' } })`. */
  request<Name extends keyof Route>(
    route: Name,
    ...[options]: RequestOptions<Name>
  ): Promise<Route[Name]['answer']> {
    return this.#requests.request(route, options);
  }

  async #call(tool: string, args: object, options: CallOptions): Promise<Answered> {
    const key = idempotencyKeyOf(options, this.#defaults.idempotencyKeys);
    const call = { tool, arguments: args, options, key };
    const first = await this.#send(call);
    const { waitForApproval = false, context } = options;
    if (waitForApproval === false || context?.confirmation_token !== undefined) return first;
    return untilDecided(first, options, (token) =>
      this.#send({ ...call, options: { ...options, context: { ...context, confirmation_token: token } } }),
    );
  }

  async #send(call: Parameters<typeof sendCall>[2], sendOnce = this.#calls): Promise<Answered> {
    // Such a name would make another route of the path.
    if (NEVER_REACHED.test(call.tool)) throw new TypeError(`tool: expected a name, found "${call.tool}".`);
    const { envelope, status } = await sendCall(sendOnce, this.#defaults, call);
    return { envelope: withApprovalUrl(envelope, this.#transport.base), status };
  }
}

function succeeded({ envelope, status }: Answered): Success {
  if (envelope.ok) return envelope;
  throw errorOfRefusal(envelope, status);
}

function defined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

/** Undefined outside of Node.js, Deno and Bun. */
function fromEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}
