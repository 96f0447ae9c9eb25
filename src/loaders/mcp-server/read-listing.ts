// From a server's list to definitions that can be pinned: by name, size, filters, and what a schema may be.
import type { JsonObject } from '../../contract/json.ts';
import { Slices } from '../../lib/concurrency/in-slices.ts';
import { overrideFor, unusedOverrides } from '../../lib/overrides/tool-overrides.ts';
import { globMatcher } from '../../lib/text/glob.ts';
import { showingHidden } from '../../lib/text/hidden-text.ts';
import { definitionHash } from '../../lib/mcp/mcp-definition.ts';
import type { ListedDefinition, SeenDefinition } from '../../ports/registry/trusted-definitions.ts';
import type { McpTool } from '../../ports/egress/mcp-servers.ts';
import type { McpServerOptions } from './options.ts';
import type { Screened } from './screen-definition.ts';

export interface LeftOut {
  /** As it can be shown. */
  readonly tool: string;
  readonly reason: string;
}

export interface ReadListing {
  readonly definitions: readonly ListedDefinition[];
  /** Not even recorded: there is no name to call them by. */
  readonly leftOut: readonly LeftOut[];
  /** Entries of `overrides` that fit no tool of the list. */
  readonly unused: readonly string[];
}

/** By the hash of a definition, so that the same one is looked at once. */
export type Screen = (hash: string, definition: JsonObject) => Promise<Screened>;

const MOST_DEFINITION_CHARACTERS = 256 * 1024;
const LONGEST_NAME = 128;
const LONGEST_SHOWN = 80;

export async function readListing(
  tools: readonly McpTool[],
  options: McpServerOptions,
  screen: Screen,
): Promise<ReadListing> {
  const { include = ['*'], exclude, overrides, prefix = `${options.name}.` } = options;
  const [isIncluded, isExcluded] = [globMatcher(include), globMatcher(exclude)];
  const times = new Map<string, number>();
  for (const { name } of tools) times.set(name, (times.get(name) ?? 0) + 1);
  const definitions: ListedDefinition[] = [];
  const leftOut: LeftOut[] = [];
  for (const [name, count] of times) {
    const problem = nameProblem(name, prefix) ?? (count > 1 ? 'is listed more than once' : undefined);
    if (problem !== undefined) {
      leftOut.push({ tool: shown(name), reason: problem });
      times.delete(name);
    }
  }
  const slices = new Slices();
  for (const tool of tools) {
    await slices.next();
    const { name } = tool;
    if (!times.has(name) || !isIncluded(name) || isExcluded(name)) continue;
    if (overrideFor(overrides, [name]).off === true) continue;
    definitions.push({ tool: prefix + name, remoteName: name, seen: await seenOf(tool, screen) });
  }
  const names = tools.map(({ name }) => [name]);
  return { definitions, leftOut, unused: unusedOverrides(overrides, names) };
}

/** On one line, and readable. */
function shown(name: string): string {
  return showingHidden(JSON.stringify(name.slice(0, LONGEST_SHOWN)).slice(1, -1));
}

/** What is no name here is not turned into one: two servers' tools, or a tool and its look-alike, must stay apart. */
function nameProblem(name: string, prefix: string): string | undefined {
  if (!/^[A-Za-z0-9_.-]+$/.test(name))
    return 'has a name with other characters than letters, digits, "_", "." and "-"';
  if (prefix.length + name.length > LONGEST_NAME) return `has a name longer than ${LONGEST_NAME} characters`;
  return undefined;
}

async function seenOf(tool: McpTool, screen: Screen): Promise<SeenDefinition> {
  const definition = plainDefinition(tool);
  if (definition === undefined) return { refused: 'is nested too deeply to be read' };
  if (definition.size > MOST_DEFINITION_CHARACTERS)
    return {
      refused: `has a definition of ${definition.size} characters, and the limit is ${MOST_DEFINITION_CHARACTERS}`,
    };
  let hash: string;
  try {
    hash = definitionHash(tool);
  } catch {
    return { refused: 'has a definition that is not valid Unicode, or holds a number without an end' };
  }
  const screened = await screen(hash, definition.value);
  return 'refused' in screened ? screened : { hash, definition: definition.value };
}

/** What the hash is about, as plain JSON. */
function plainDefinition(tool: McpTool): { readonly value: JsonObject; readonly size: number } | undefined {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  try {
    const text = JSON.stringify({ name, title, description, inputSchema, outputSchema, annotations });
    return { value: JSON.parse(text) as JsonObject, size: text.length };
  } catch {
    return undefined;
  }
}
