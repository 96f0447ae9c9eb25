// A receiver of webhooks on loopback that keeps what it is told.
import type { LoopbackServers } from './loopback-servers.ts';

/** Each body, as JSON, goes into `told`. Gives its host with the port. */
export async function receiveWebhooks(servers: LoopbackServers, told: unknown[]): Promise<string> {
  const origin = await servers.http((incoming, answer) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
    incoming.on('end', () => {
      told.push(JSON.parse(body));
      answer.writeHead(204).end();
    });
  });
  return new URL(origin).host;
}
