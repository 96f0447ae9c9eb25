// GatewayClient: REST requests to a running gateway, with the caller's key.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { JsonObject } from '../../contract/json.ts';
import { codeOf } from '../../lib/error-code.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT } from '../exit-code.ts';
import { clientTls, type ClientTls, type TlsOptions } from './client-tls.ts';
import { ownGatewayUrl } from './own-gateway.ts';
import { sendBy, type GatewayAnswer, type GatewayRequest, type SendRequest } from './send-request.ts';

export interface GatewayOptions extends TlsOptions {
  readonly url?: string;
  readonly key?: string;
  readonly keyFile?: string;
  readonly asTenant?: string;
}

type Headers = GatewayRequest['headers'];

/** Where something is, and what is shown there. */
export interface Target {
  readonly url: URL;
  readonly headers: Headers;
  readonly tls: ClientTls | undefined;
}

interface Query {
  readonly [name: string]: string | undefined;
}

/** The options of every command that talks to a gateway. */
export function withGatewayOptions(command: Command): Command {
  return command
    .option('--url <url>', 'where the gateway is (default: UTE_URL, or what the settings of this folder say)')
    .option('--key <key>', 'API key; better kept in UTE_API_KEY or a file')
    .option('--key-file <path>', 'file that holds the API key')
    .option('--as-tenant <name>', 'for which tenant, with a key that serves several')
    .option('--client-cert <path>', 'PEM certificate to show to the gateway (default: UTE_CLIENT_CERT_FILE)')
    .option('--client-key <path>', 'PEM key of the certificate (default: UTE_CLIENT_KEY_FILE)')
    .option(
      '--ca-file <path>',
      'PEM certificates of the CAs to believe, and no others (default: UTE_CA_FILE)',
    );
}

export class GatewayClient {
  readonly #exchange: SendRequest;
  readonly #base: URL;
  readonly #headers: Headers;
  readonly #tls: ClientTls | undefined;

  private constructor(io: CliIo, base: URL, headers: Headers, tls: ClientTls | undefined) {
    this.#exchange = sendBy(io, tls);
    this.#base = base;
    this.#headers = headers;
    this.#tls = tls;
  }

  static async open(options: GatewayOptions, io: CliIo): Promise<GatewayClient> {
    const key = await keyOf(options, io);
    if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) {
      // fetch would refuse it too, and print it.
      throw new CliFailure(
        EXIT.usage,
        'the API key may hold printable ASCII characters only, without spaces',
      );
    }
    const { asTenant } = options;
    if (asTenant !== undefined && !/^[\x20-\x7e]+$/.test(asTenant))
      throw new CliFailure(EXIT.usage, '--as-tenant may hold printable ASCII characters only');
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(asTenant !== undefined && { 'x-ute-tenant': asTenant }),
    };
    const url = parseUrl(options.url ?? (io.env['UTE_URL'] || ownGatewayUrl(io)));
    return new GatewayClient(io, url, headers, await clientTls(options, url, io));
  }

  /** For whoever talks to it by other means. */
  target(path: string, query: Query = {}): Target {
    return { url: this.#urlOf(path, query), headers: this.#headers, tls: this.#tls };
  }

  get(path: string, query: Query = {}): Promise<GatewayAnswer> {
    return this.#request(this.#urlOf(path, query), { headers: this.#headers });
  }

  post(path: string, body: string, headers: Headers): Promise<GatewayAnswer> {
    return this.#request(this.#urlOf(path), {
      method: 'POST',
      body,
      headers: { ...this.#headers, ...headers, 'content-type': 'application/json' },
    });
  }

  /** Of the management side. */
  send(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: JsonObject,
    query: Query = {},
  ): Promise<GatewayAnswer> {
    const headers = { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const said = body === undefined ? {} : { body: JSON.stringify(body) };
    return this.#request(this.#urlOf(path, query), { method, headers, ...said });
  }

  /** A gateway may live under a path of its own. */
  #urlOf(path: string, query: Query = {}): URL {
    const url = new URL(this.#base);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    // `..` is a step up in every spelling.
    if (url.pathname.endsWith(path)) return url;
    throw new CliFailure(EXIT.usage, `${path} is no path of a gateway`);
  }

  async #request(url: URL, request: GatewayRequest): Promise<GatewayAnswer> {
    try {
      return await this.#exchange(url, request);
    } catch (error) {
      throw new CliFailure(
        EXIT.failed,
        `the gateway at ${this.#base.origin} cannot be reached: ${reasonOf(error).trim()}${adviceOn(error)}`,
      );
    }
  }
}

const NOT_RUNNING = 'nothing listens there: start it, or say with --url or UTE_URL where it is';
const NOT_TRUSTED =
  'its certificate is not trusted here: give the CA that has signed it with --ca-file or UTE_CA_FILE';
const NO_CERTIFICATE =
  'it asks for a certificate: give one with --client-cert and --client-key, or UTE_CLIENT_CERT_FILE and UTE_CLIENT_KEY_FILE';

/** What Node says of a certificate of the other side that no authority here has signed. */
const UNTRUSTED = /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED)/;

/** By what failed, which fetch hides in the cause. Empty: nothing is known to help. */
function adviceOn(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  const code = codeOf(cause);
  if (code === 'ECONNREFUSED') return `; ${NOT_RUNNING}`;
  if (UNTRUSTED.test(code)) return `; ${NOT_TRUSTED}`;
  return /CERTIFICATE_REQUIRED|alert certificate required/i.test(`${code} ${reasonOf(error)}`)
    ? `; ${NO_CERTIFICATE}`
    : '';
}

function parseUrl(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  const near = /^[\w.-]+:\d+$/.test(text) ? `; did you mean http://${text}?` : '';
  throw new CliFailure(
    EXIT.usage,
    `--url must be an http or https URL, found ${JSON.stringify(text)}${near}`,
  );
}

async function keyOf({ key, keyFile }: GatewayOptions, io: CliIo): Promise<string | undefined> {
  if (key !== undefined) return key;
  if (keyFile === undefined) return io.env['UTE_API_KEY'] || undefined;
  try {
    return (await readFile(resolve(io.cwd, keyFile), 'utf8')).trim();
  } catch (error) {
    throw new CliFailure(EXIT.usage, `--key-file ${keyFile} cannot be read: ${reasonOf(error)}`);
  }
}

/** fetch hides why it failed in the cause. */
export function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  const inner = cause instanceof Error ? cause : error;
  if (!(inner instanceof Error)) return String(inner);
  return inner.message === '' ? codeOf(inner) : inner.message;
}
