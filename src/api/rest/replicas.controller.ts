// The replicas of this gateway: who lives, what each holds, and whether they agree.
import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { ReplicaView } from '../../ports/registry/replica-view.ts';
import { AUTHENTICATOR, REPLICA_VIEW } from '../tokens.ts';
import { PLATFORM, requirePermission } from './management.ts';

@Controller('v1')
export class ReplicasController {
  constructor(
    @Inject(REPLICA_VIEW) private readonly view: ReplicaView,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
  ) {}

  @Get('admin/replicas')
  replicas(@Req() request: FastifyRequest) {
    requirePermission(this.authenticator, request, PLATFORM);
    return {
      self: this.view.id,
      agree: this.view.agree(),
      replicas: this.view.replicas().map(({ id, version, hash, seenAt }) => ({
        id,
        registry_version: version,
        hash,
        seen_at: new Date(seenAt).toISOString(),
      })),
    };
  }
}
