// The replicas of this gateway: who lives, what each holds, and whether they agree.
import { Controller, Inject } from '@nestjs/common';
import type { ReplicaView } from '../../../ports/registry/replica-view.ts';
import { REPLICA_VIEW } from '../../tokens.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import { Serves } from '../route/serves.ts';
import { listReplicas } from './schema.ts';

@Controller()
export class ReplicasController {
  constructor(@Inject(REPLICA_VIEW) private readonly view: ReplicaView) {}

  @Serves(listReplicas)
  @Requires(PLATFORM)
  list() {
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
