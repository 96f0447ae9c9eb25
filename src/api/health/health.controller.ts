// Probes: alive (the loop turns) and ready (tools are loaded, and the process is not draining).
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
    reply.code(reason === undefined ? 200 : 503).send({
      ...(reason === undefined ? { status: 'ok' } : { status: 'unavailable', reason }),
      sandbox: this.readiness.sandbox(),
      executors: this.readiness.executors(),
    });
  }
}
