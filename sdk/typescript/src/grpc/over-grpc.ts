// Calls and streams over gRPC, for a GatewayClient that is given this. Needs @grpc/grpc-js and @grpc/proto-loader.
import {
  Client,
  credentials,
  Metadata,
  status as codes,
  type ChannelCredentials,
  type ServiceError,
} from '@grpc/grpc-js';
import type { CallRoute, SpeakerSource } from '../client/call-route.ts';
import type { Attempt, Try } from '../client/send-call.ts';
import type { Speaker } from '../stream/line.ts';
import { ConverseLine } from './converse-line.ts';
import { EXECUTE, type Fields } from './schema.ts';
import { lossOf, refusalOf } from './status.ts';
import { contextMessage, errorFieldsOf, intentOf, metaOf } from './wire.ts';

export interface GrpcOptions {
  /** Where the gateway's port of gRPC is: `https://gateway:50051`, or `http://` for one without TLS. */
  readonly url: string;
  /** Instead of TLS with the authorities of the system: others, or a certificate of the client. */
  readonly credentials?: ChannelCredentials;
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };
/** The gateway sends no larger message than 16 MiB. */
const LARGEST = 17 * 1024 * 1024;
/** Of the status: gRPC has none of HTTP's. */
const NO_STATUS = 0;

export function overGrpc({ url, credentials: given }: GrpcOptions): CallRoute {
  const { protocol, hostname, port } = new URL(url);
  const usual = PORTS[protocol];
  if (usual === undefined) throw new TypeError(`url: expected http:// or https://, found "${url}".`);
  const secure = given ?? (protocol === 'https:' ? credentials.createSsl() : credentials.createInsecure());
  const client = new Client(`${hostname}:${port || usual}`, secure, {
    'grpc.max_receive_message_length': LARGEST,
  });
  return {
    calls: (source) => (attempt) => execute(client, source, attempt),
    lines: async (speaker, events, signal) => {
      signal.throwIfAborted();
      return new ConverseLine(client, metadataOf(speaker), events, signal);
    },
    close: () => client.close(),
  };
}

/** A refused token is asked for anew, once. */
async function execute(client: Client, source: SpeakerSource, attempt: Attempt): Promise<Try> {
  const shown = async (refresh: boolean) =>
    send(client, { credential: await source.credential(refresh), tenant: source.tenant }, attempt);
  const tried = await shown(false);
  const isRefused = !(tried instanceof Error) && !tried.envelope.ok && tried.envelope.error.type === 'AUTH';
  return isRefused && source.hasTokens ? shown(true) : tried;
}

async function send(client: Client, speaker: Speaker, attempt: Attempt): Promise<Try> {
  const { deadline } = attempt;
  deadline.throwIfOver();
  try {
    const response = await unary(client, speaker, attempt);
    return { envelope: envelopeOf(response), status: NO_STATUS };
  } catch (error) {
    if (!isStatus(error)) throw error;
    const refusal = refusalOf(error);
    if (refusal !== undefined) return { envelope: refusal, status: NO_STATUS };
    if (error.code === codes.DEADLINE_EXCEEDED && Number.isFinite(deadline.leftMs))
      deadline.throwAsOver(error);
    if (error.code === codes.CANCELLED) deadline.throwIfOver(error);
    return lossOf(error);
  }
}

function unary(client: Client, speaker: Speaker, attempt: Attempt): Promise<Fields> {
  const { tool, context, key, deadline } = attempt;
  const request = {
    tool,
    arguments_json: Buffer.from(JSON.stringify(attempt.arguments)),
    context: contextMessage({ ...context, ...(key !== undefined && { idempotency_key: key }) }),
  };
  const { path, requestSerialize, responseDeserialize } = EXECUTE;
  const { leftMs, signal } = deadline;
  const options = Number.isFinite(leftMs) ? { deadline: Date.now() + leftMs } : {};
  return new Promise((resolve, reject) => {
    const call = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadataOf(speaker),
      options,
      (error, response) => {
        signal.removeEventListener('abort', abort);
        if (error === null && response !== undefined) resolve(response);
        else reject(error ?? new Error('There was no answer.'));
      },
    );
    const abort = () => call.cancel();
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

function envelopeOf({ ok, data_json: json, intents, error, meta }: Fields) {
  if (ok !== true) return { ok: false as const, error: errorFieldsOf(error), meta: metaOf(meta) };
  const data = JSON.parse((json as Buffer).toString()) as unknown;
  return { ok: true as const, data, intents: (intents as Fields[]).map(intentOf), meta: metaOf(meta) };
}

function metadataOf({ credential, tenant }: Speaker): Metadata {
  const metadata = new Metadata();
  if (credential !== undefined) metadata.set('authorization', `Bearer ${credential}`);
  if (tenant !== undefined) metadata.set('x-ute-tenant', tenant);
  return metadata;
}

function isStatus(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error;
}
