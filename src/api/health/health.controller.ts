// Probes: alive (the loop turns) and ready (calls are worth sending here), with what the gateway does without.
import { Controller, Get, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { READINESS, type Readiness } from '../tokens.ts';

@Controller()
export class HealthController {
  constructor(@Inject(READINESS) private readonly readiness: Readiness) {}

  @Get('livez')
  alive() {
    return { status: 'ok' };
  }

  @Get('readyz')
  ready(@Res() reply: FastifyReply): void {
    const reason = this.readiness.notReady();
    const degraded = this.readiness.degraded();
    const isDegraded = Object.keys(degraded).length > 0;
    reply.code(reason === undefined ? 200 : 503).send({
      ...(reason === undefined
        ? { status: isDegraded ? 'degraded' : 'ok' }
        : { status: 'unavailable', reason }),
      ...(isDegraded ? { degraded } : {}),
      sandbox: this.readiness.sandbox(),
      executors: this.readiness.executors(),
    });
  }
}
