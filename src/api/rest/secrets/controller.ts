// The keys for secrets by REST: looked at, rotated, and old secrets brought over to the new one.
import { Controller, Inject } from '@nestjs/common';
import type { SecretKeyControl, SecretKeysReport } from '../../../ports/agents/agent-control.ts';
import { SECRET_KEYS } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { listSecretKeys, rewrapSecrets, rotateSecretKey } from './schema.ts';

@Controller()
export class SecretsController {
  constructor(@Inject(SECRET_KEYS) private readonly secrets: SecretKeyControl) {}

  @Serves(listSecretKeys)
  @Requires(PLATFORM)
  async list(_asked: Asked<typeof listSecretKeys>) {
    return wireKeys(await this.secrets.keys());
  }

  @Serves(rotateSecretKey)
  @Requires(PLATFORM)
  @Recorded('secrets.rotate')
  async rotate(_asked: Asked<typeof rotateSecretKey>) {
    return wireKeys(await this.secrets.rotate());
  }

  @Serves(rewrapSecrets)
  @Requires(PLATFORM)
  @Recorded('secrets.rewrap')
  rewrap(_asked: Asked<typeof rewrapSecrets>) {
    return this.secrets.rewrap();
  }
}

function wireKeys({ provider, keys }: SecretKeysReport) {
  return {
    provider: provider as 'file' | 'environment',
    keys: keys.map(({ keyId, isCurrent, isHere, secrets }) => ({
      key_id: keyId,
      is_current: isCurrent,
      is_here: isHere,
      secrets,
    })),
  };
}
