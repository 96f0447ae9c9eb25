// Requests of the bridge to the gateway's MCP door.
import { once } from 'node:events';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Target } from '../gateway/gateway-client.ts';
import type { BridgeEnds } from './bridge-ends.ts';

/** Over connections that are kept, and without a limit of time: the gateway has its own. */
export function requestsTo({ url, headers: own, tls }: Target): BridgeEnds['request'] {
  const isTls = url.protocol === 'https:';
  const agent = isTls ? new HttpsAgent({ ...tls, keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const request = isTls ? httpsRequest : httpRequest;
  return async (body, headers, signal) => {
    const accept = body === undefined ? 'text/event-stream' : 'application/json, text/event-stream';
    const method = body === undefined ? 'GET' : 'POST';
    const said = {
      ...own,
      ...headers,
      accept,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const asked = request(url, { method, agent, signal, headers: said });
    // Told where it is waited for; what comes after the answer has begun, by the answer itself.
    asked.on('error', () => undefined);
    asked.end(body);
    try {
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      return response;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`The gateway at ${url.origin} cannot be reached: ${reason}.`, { cause: error });
    }
  };
}
