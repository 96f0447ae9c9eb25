// Probes: alive (the loop turns) and ready (calls are worth sending here), with what the gateway does without.
import { Controller, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ServesByHand } from '../rest/route/serves.ts';
import { READINESS, type Readiness } from '../tokens.ts';
import { livez, readyz } from './schema.ts';

@Controller()
export class HealthController {
  constructor(@Inject(READINESS) private readonly readiness: Readiness) {}

  @ServesByHand(livez)
  alive() {
    return { status: 'ok' };
  }

  @ServesByHand(readyz)
  ready(@Res() reply: FastifyReply): void {
    const reason = this.readiness.notReady();
    const degraded = this.readiness.degraded();
    const notes = this.readiness.notes();
    const isDegraded = Object.keys(degraded).length > 0;
    reply.code(reason === undefined ? 200 : 503).send({
      ...(reason === undefined
        ? { status: isDegraded ? 'degraded' : 'ok' }
        : { status: 'unavailable', reason }),
      ...(isDegraded ? { degraded } : {}),
      ...(Object.keys(notes).length > 0 ? { notes } : {}),
      sandbox: this.readiness.sandbox(),
      executors: this.readiness.executors(),
    });
  }
}
