// The providers of gateway.yaml, each with its secret. Loaded once, at the start.
import { describeProblem } from '../../lib/text/describe-problem.ts';
import { resolveReferences } from '../../lib/secrets/references.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpClient } from '../../ports/egress/http-client.ts';
import type { OAuthProvider, OAuthProviders } from '../../ports/oauth/oauth-provider.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { OAuthProviderSettings } from '../../settings/oauth-settings.ts';
import { positionOf, readSource } from '../../settings/settings-source.ts';
import type { Settings } from '../../settings/settings-schema.ts';

export interface ProvidersNeeds {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly log: Log;
}

/** Throws Error that names every reference that leads nowhere, with its place in gateway.yaml. */
export async function openProviders(
  settings: Settings,
  { http, clock, log }: ProvidersNeeds,
): Promise<OAuthProviders> {
  const said = Object.entries(settings.oauth.providers);
  const found = new Map<string, OAuthProvider>();
  if (said.length > 0) {
    // Who connects no accounts does not load what it takes.
    const { ProviderClient } = await import('./provider-client.ts');
    const secrets = await readSecrets(said, settings);
    log.hide?.([...secrets.values()]);
    for (const [name, each] of said) {
      const clientSecret = secrets.get(name);
      found.set(name, new ProviderClient({ name, settings: each, clientSecret, http, clock }));
    }
  }
  return { find: (name) => found.get(name), names: [...found.keys()] };
}

async function readSecrets(
  providers: readonly (readonly [name: string, settings: OAuthProviderSettings])[],
  { configDir, configFile }: Settings,
): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map<string, string>();
  const problems: string[] = [];
  for (const [name, { client_secret: reference }] of providers) {
    if (reference === undefined) continue;
    const { value, faults } = await resolveReferences(reference, { env: process.env, baseDir: configDir });
    const path = ['oauth', 'providers', name, 'client_secret'];
    const wrong = faults.map(({ message }) => message);
    if (wrong.length === 0 && value === '') wrong.push('the secret is empty');
    const place =
      wrong.length === 0 ? undefined : positionOf(path, readSource(configFile, false), process.env);
    for (const message of wrong)
      problems.push(
        describeProblem({ ...place, file: place?.file ?? configFile, path: path.join('.'), message }),
      );
    if (typeof value === 'string') secrets.set(name, value);
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return secrets;
}
