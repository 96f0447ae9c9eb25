// The route of streams, for requests that ask for no upgrade; those that do never become requests: see socket/.
import { Controller, Inject, Res, type BeforeApplicationShutdown } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { toolFailure } from '../../contract/call/failure.ts';
import { ServesByHand } from '../rest/route/serves.ts';
import { STREAM_HUB } from '../tokens.ts';
import { openStream } from './schema.ts';
import type { StreamHub } from './stream-hub.ts';

@Controller()
export class StreamController implements BeforeApplicationShutdown {
  constructor(@Inject(STREAM_HUB) private readonly hub: StreamHub) {}

  @ServesByHand(openStream)
  open(@Res({ passthrough: true }) reply: FastifyReply): never {
    reply.header('upgrade', 'websocket').header('connection', 'upgrade');
    throw toolFailure(
      'UPGRADE_REQUIRED',
      'Streams are WebSockets: ask for an upgrade, with the subprotocol ute.v1.',
    );
  }

  /** Before connections are closed: a WebSocket would keep its own open. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.hub.stop();
  }
}
