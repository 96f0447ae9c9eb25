// The settings of this place, as the gateway reads them: gateway.yaml and the environment.
import { loadSettings } from '../settings/load-settings.ts';
import { SettingsError } from '../settings/problems/settings-error.ts';
import type { Settings } from '../settings/settings-schema.ts';
import type { CliIo } from './cli-io.ts';
import { CliFailure, EXIT } from './exit-code.ts';

/** Throws CliFailure with what is wrong with them, behind `about`. */
export function ownSettings({ env, cwd }: CliIo, about = ''): Settings {
  try {
    return loadSettings(env, cwd);
  } catch (error) {
    if (error instanceof SettingsError) throw new CliFailure(EXIT.failed, about + error.message);
    throw error;
  }
}
