// Builds a toolset of the tools in force: what it offers, under which names, and what each call through it is.
import { hash } from 'node:crypto';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import type { KnownTool, ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import type { ToolsetInForce } from '../../ports/registry/toolsets.ts';
import { SEARCH_NAMES, type Toolset, type ToolsetMember } from '../../contract/tool/toolset.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { closeParameters } from './closed-parameters.ts';
import { selectTools } from './select-tools.ts';
import type { ToolOverride, ToolsetDefinition, ToolsetWarning } from './toolset-definition.ts';

export interface BuiltToolset {
  readonly toolset: ToolsetInForce;
  readonly warnings: readonly ToolsetWarning[];
}

/** What lists of a toolset hold instead of its tools. */
export interface SearchTools {
  readonly listed: ToolSet;
  find(name: string): CompiledTool | undefined;
}

interface Offer {
  readonly fn: ToolFunction;
  readonly known: KnownTool;
  readonly member: ToolsetMember;
}

const NOTHING_CLOSED: ReadonlySet<string> = new Set();
const NOTHING_FIXED = Object.freeze({});

/** `search`: of a toolset whose lists hold three tools. Yields now and then: a set may have ten thousand tools. */
export function* buildToolset(
  name: string,
  definition: ToolsetDefinition,
  snapshot: ToolSet,
  search?: (toolset: Toolset) => SearchTools,
): Generator<void, BuiltToolset> {
  const { functions, unknown } = yield* selectTools(definition, snapshot.functions);
  const warn = (path: readonly string[], message: string): ToolsetWarning => ({
    toolset: name,
    path: ['toolsets', name, ...path],
    message,
  });
  const warnings = unknown.map(({ path, message }) => warn(path, message));
  const isSelected = new Set(functions.map((fn) => fn.name));
  for (const tool of Object.keys(definition.overrides)) {
    if (isSelected.has(tool)) continue;
    warnings.push(warn(['overrides', tool], 'no tool of this name is in the toolset now'));
  }
  const taken = new Set(spellingsOf(functions, definition, snapshot));
  const offers: Offer[] = [];
  for (const fn of functions) {
    const known = snapshot.find(fn.name);
    if (known === undefined) continue;
    const override = Object.hasOwn(definition.overrides, fn.name) ? definition.overrides[fn.name] : undefined;
    const offer = offerOf(fn, known, override);
    const fault =
      typeof offer === 'string' ? offer : nameFault(offer.member, taken, definition.listing === 'search');
    if (fault !== undefined || typeof offer === 'string') {
      const message = `${fn.name} is left out of the toolset: it ${fault}`;
      warnings.push(warn(['overrides', fn.name], message));
      continue;
    }
    taken.add(offer.member.name);
    offers.push(offer);
    if (override !== undefined) yield;
  }
  return { toolset: toolsetOf(name, definition, snapshot, offers, search), warnings };
}

/** Of tools that keep their names: nobody else is given one of these. */
function spellingsOf(
  functions: readonly ToolFunction[],
  { overrides }: ToolsetDefinition,
  snapshot: ToolSet,
): readonly string[] {
  const keeping = functions.filter(({ name }) => {
    const given = Object.hasOwn(overrides, name) ? overrides[name]?.name : undefined;
    return given === undefined || given === name;
  });
  return keeping.flatMap(({ name }) => [name, snapshot.providerName(name)]);
}

/** Of a tool of another name: whether that is free. */
function nameFault({ name, tool }: ToolsetMember, taken: ReadonlySet<string>, isSearched: boolean) {
  if (isSearched && SEARCH_NAMES.includes(name))
    return `would have the name of a tool that searches, ${name}`;
  return name !== tool && taken.has(name) ? `would be called ${name}, as another tool of it is` : undefined;
}

function offerOf(fn: ToolFunction, known: KnownTool, override: ToolOverride | undefined): Offer | string {
  const whole = { name: fn.name, tool: fn.name, fixed: NOTHING_FIXED, closed: NOTHING_CLOSED };
  if (override === undefined) return { fn, known, member: whole };
  const { name = fn.name, description, fixed = {}, hidden = [] } = override;
  const closes = Object.keys(fixed).length > 0 || hidden.length > 0;
  const parameters = closes ? closeParameters(fn, override) : undefined;
  if (typeof parameters === 'string') return parameters;
  const offered: ToolFunction = {
    ...fn,
    name,
    ...(description !== undefined && { description, spec: described(fn.spec, description) }),
    ...(parameters !== undefined && { inputSchema: parameters.inputSchema }),
  };
  const member = { name, tool: fn.name, fixed, closed: parameters?.closed ?? NOTHING_CLOSED };
  return { fn: offered, known: { ...known, function: offered }, member };
}

/** The summary stands in prompts beside the description, and would say what the operator has replaced. */
function described(spec: ToolFunction['spec'], summary: string): ToolFunction['spec'] {
  return { ...spec, metadata: { ...spec.metadata, summary } };
}

function toolsetOf(
  name: string,
  definition: ToolsetDefinition,
  snapshot: ToolSet,
  offers: readonly Offer[],
  search: ((toolset: Toolset) => SearchTools) | undefined,
): ToolsetInForce {
  const { description, tenants, agents } = definition;
  const sorted = offers.toSorted((a, b) => (a.fn.name < b.fn.name ? -1 : 1));
  const byName = new Map<string, Offer>();
  // What it was renamed to is a name that every provider takes.
  const spelled = ({ member }: Offer) =>
    member.name === member.tool ? snapshot.providerName(member.tool) : member.name;
  for (const offer of sorted) byName.set(spelled(offer), offer);
  for (const offer of sorted) byName.set(offer.fn.name, offer);
  const contentHash = hash('sha256', `${snapshot.contentHash} ${canonicalHash(definition)}`);
  const tools: ToolSet = Object.freeze({
    version: `1.0.${contentHash.slice(0, 8)}`,
    contentHash,
    specs: [...new Set(sorted.map(({ fn }) => fn.spec))],
    functions: sorted.map(({ fn }) => fn),
    find: (asked: string) => byName.get(asked)?.known,
    providerName: (asked: string) => {
      const offer = byName.get(asked);
      return offer === undefined ? asked : spelled(offer);
    },
  });
  const plain: ToolsetInForce = {
    name,
    ...(description !== undefined && { description }),
    tools,
    listed: tools,
    member: (asked) => byName.get(asked)?.member,
    mayUse: ({ tenantId, agentId }) => isOneOf(tenantId, tenants) && isOneOf(agentId, agents),
    isOfTenant: (tenantId) => isOneOf(tenantId, tenants),
  };
  const searched = definition.listing === 'search' ? search?.(plain) : undefined;
  return searched === undefined ? plain : { ...plain, listed: searched.listed, search: searched };
}

/** Without a list, everybody is. */
function isOneOf(id: string | undefined, list: readonly string[] | undefined): boolean {
  return list === undefined || (id !== undefined && list.includes(id));
}
