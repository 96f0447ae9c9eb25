// Probes: alive (the loop turns) and ready (calls are worth sending here), with what the gateway does without.
import { Controller, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ServesByHand } from '../rest/route/serves.ts';
import { READINESS, type Readiness } from '../tokens.ts';
import { readinessAnswer } from './readiness-answer.ts';
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
    const { status, body } = readinessAnswer(this.readiness);
    reply.code(status).send(body);
  }
}
