// Declares tools at a gateway by its API for definitions (`specs:write`). The gateway calls them over HTTP.
import type { GatewayClient } from '../client/client.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { ToolSpecOutcome } from '../generated/gateway.ts';
import type { AnyTool } from './define-tool.ts';

export type Place =
  /** A connection of the gateway, whose base_url leads to the tools and whose secret they ask for. */
  | { readonly connection: string; readonly note?: string }
  /** Where the tools are served without a secret of their own, as behind a mesh. */
  | { readonly url: string; readonly note?: string };

/** The declaration of a tool, as tools.yaml has it. */
export function specOf(tool: AnyTool, place: Place): Record<string, unknown> {
  const path = `/tools/${tool.name}`;
  const where =
    'url' in place
      ? { url: `${place.url.replace(/\/+$/, '')}${path}` }
      : { connection: place.connection, path };
  return {
    name: tool.name,
    description: tool.description,
    tool_type: 'http',
    input_schema: tool.inputSchema,
    ...(tool.outputSchema !== undefined && { output_schema: tool.outputSchema }),
    implementation_config: { method: 'POST', ...where, body: 'remaining', response: 'json' },
    ...(tool.metadata !== undefined && { metadata: tool.metadata }),
    ...(tool.timeoutMs !== undefined && { timeout_ms: tool.timeoutMs }),
  };
}

/** All or none: each is judged first. Resolves when this replica has them. */
export async function registerTools(
  client: GatewayClient,
  tools: readonly AnyTool[],
  place: Place,
): Promise<ToolSpecOutcome[]> {
  const query = { note: place.note ?? 'declared by the SDK' };
  const asked = tools.map((tool) => ({ path: { name: tool.name }, body: specOf(tool, place) }));
  for (const each of asked)
    await client.request('PUT /v1/specs/{name}', { ...each, query: { dry_run: true } });
  const outcomes: ToolSpecOutcome[] = [];
  for (const each of asked) {
    const outcome = (await client.request('PUT /v1/specs/{name}', { ...each, query })) as ToolSpecOutcome;
    if (!outcome.in_force) throw notInForce(outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}

function notInForce({ name, problems }: ToolSpecOutcome): GatewayError {
  return new GatewayError({
    type: 'UNAVAILABLE',
    reason: 'NOT_IN_FORCE',
    message: `The definition of ${name} is kept, and not in force yet: ${JSON.stringify(problems)}`,
    retryable: true,
    partialSideEffects: true,
    origin: 'gateway',
    details: { problems },
    status: 200,
  });
}
