// A request of `ute` to a gateway: by fetch, or with certificates, which fetch does not take.
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { CliIo } from '../cli-io.ts';
import type { ClientTls } from './client-tls.ts';

export interface GatewayAnswer {
  readonly status: number;
  readonly ok: boolean;
  readonly text: string;
}

export interface GatewayRequest {
  readonly method?: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
}

/** Rejects where there is no answer. A redirect is none: it would carry the key to a place that nobody named. */
export type SendRequest = (url: URL, request: GatewayRequest) => Promise<GatewayAnswer>;

export function sendBy(io: CliIo, tls: ClientTls | undefined): SendRequest {
  return tls === undefined ? (url, asked) => byFetch(io, url, asked) : withCertificates(tls);
}

async function byFetch({ fetch }: CliIo, url: URL, asked: GatewayRequest): Promise<GatewayAnswer> {
  const response = await fetch(url, { ...asked, redirect: 'error' });
  return { status: response.status, ok: response.ok, text: await response.text() };
}

function withCertificates(tls: ClientTls): SendRequest {
  // A connection is used again by the next request, and holds up no end of the process.
  const agent = new Agent({ ...tls, keepAlive: true });
  return async (url, { body, ...asked }) => {
    const sent = request(url, { ...asked, agent });
    // Told where it is waited for.
    sent.on('error', () => undefined);
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode: status = 0 } = response;
    if (status >= 300 && status < 400) {
      response.destroy();
      throw new Error('it answers with a redirect, which is not followed');
    }
    return { status, ok: status >= 200 && status < 300, text: await text(response) };
  };
}
