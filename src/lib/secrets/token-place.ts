// Where a token of a connected account belongs: what is sealed for one tenant, agent and provider opens for no other.

/** No tool has a "/" in its name: none is taken for a provider. */
const PREFIX = 'oauth/';

interface OfProvider {
  readonly tenantId: string;
  readonly agent: string;
  readonly provider: string;
}

export function secretPlaceOf({ tenantId, agent, provider }: OfProvider, field: string) {
  return { tenantId, agent, tool: `${PREFIX}${provider}`, field };
}

/** Undefined: it is the place of a tool's secret. */
export function providerOfPlace(tool: string): string | undefined {
  return tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : undefined;
}
