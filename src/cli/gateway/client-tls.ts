// What `ute` shows of itself on a TLS connection, and whose certificates it believes there.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT } from '../exit-code.ts';

export interface TlsOptions {
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly caFile?: string;
}

/** PEM. */
export interface ClientTls {
  readonly cert?: string;
  readonly key?: string;
  /** These alone are believed, in place of those that Node knows. */
  readonly ca?: string;
}

/** What the options say, or else the environment. Undefined: nothing. Throws CliFailure where a file cannot be used. */
export async function clientTls(options: TlsOptions, url: URL, io: CliIo): Promise<ClientTls | undefined> {
  const { env } = io;
  const cert = options.clientCert ?? (env['UTE_CLIENT_CERT_FILE'] || undefined);
  const key = options.clientKey ?? (env['UTE_CLIENT_KEY_FILE'] || undefined);
  const ca = options.caFile ?? (env['UTE_CA_FILE'] || undefined);
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if ((cert === undefined) !== (key === undefined))
    throw new CliFailure(EXIT.usage, 'a client certificate needs both --client-cert and --client-key');
  if (url.protocol !== 'https:')
    throw new CliFailure(
      EXIT.usage,
      `certificates are for https, and the gateway is at ${url.origin}: name it with --url https://…`,
    );
  const tls: ClientTls = {
    ...(cert !== undefined && { cert: await pemOf('--client-cert', cert, io) }),
    ...(key !== undefined && { key: await pemOf('--client-key', key, io) }),
    ...(ca !== undefined && { ca: await pemOf('--ca-file', ca, io) }),
  };
  try {
    createSecureContext(tls);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFailure(EXIT.usage, `the certificates cannot be used: ${why}`);
  }
  return tls;
}

async function pemOf(option: string, path: string, io: CliIo): Promise<string> {
  let text: string;
  try {
    text = await readFile(resolve(io.cwd, path), 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliFailure(EXIT.usage, `${option} ${path} cannot be read: ${why}`);
  }
  // Node takes a file without any for no CA at all.
  if (!text.includes('-----BEGIN '))
    throw new CliFailure(EXIT.usage, `${option} ${path} is no PEM file: there is no -----BEGIN in it`);
  return text;
}
