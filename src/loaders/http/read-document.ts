// A remote document's text into raw tools and connections, held to what a document from elsewhere may say.
import { hash } from 'node:crypto';
import type { DescribedProblem } from '../../lib/text/describe-problem.ts';
import { openedBy } from '../../lib/egress/opened-by.ts';
import { globMatcher } from '../../lib/text/glob.ts';
import { parseWhole, type ParsedConnection, type ParsedTool } from '../../lib/tools-yaml/parse-whole.ts';
import type { Path } from '../../lib/tools-yaml/yaml-text.ts';

export interface RemoteRules {
  readonly maxTools: number;
  /** Of all values as JSON text, with what aliases repeat. */
  readonly maxJsonLength: number;
  readonly toolTypes: readonly string[];
  readonly connections: readonly string[];
  readonly allowConnections: boolean;
  /** Names and globs of tools of other sources. */
  readonly mayCall: readonly string[];
}

export interface ReadRequest {
  /** What problems name. */
  readonly file: string;
  readonly text: string;
  readonly rules: RemoteRules;
}

/** Where a value stands and its own text: enough to find any place in it later. */
export interface Excerpt {
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

export interface ReadTool {
  readonly value: unknown;
  readonly contentHash: string;
  readonly excerpt: Excerpt;
}

export interface ReadConnection extends ReadTool {
  readonly name: string;
}

export interface ReadDocument {
  readonly tools: readonly ReadTool[];
  readonly connections: readonly ReadConnection[];
  readonly problems: readonly DescribedProblem[];
}

const MAX_DEPTH = 100;
const MOST_PROBLEMS = 100;
const REFERENCE = /\$\{(?:env|file):/;

type Located = ParsedTool | ParsedConnection;
type Fault = { readonly path: Path; readonly message: string };

/** Never throws for what a document holds. */
export function readDocument(request: ReadRequest): ReadDocument {
  const refused = (message: string) => ({
    tools: [],
    connections: [],
    problems: [{ file: request.file, message }],
  });
  try {
    const source = parseWhole({ file: request.file, text: request.text });
    const excess = excessOf(source, request.rules);
    if (excess !== undefined) return refused(excess);
    const problems = [...source.problems, ...faultsOf(source, request.rules)];
    if (problems.length > 0)
      return { tools: [], connections: [], problems: problems.slice(0, MOST_PROBLEMS) };
    return {
      tools: source.tools.map((tool) => portable(tool, tool.contentHash, request.text)),
      connections: source.connections.map((each) => ({
        ...portable(each, hash('sha256', JSON.stringify([each.name, each.value])), request.text),
        name: each.name,
      })),
      problems,
    };
  } catch (error) {
    if (error instanceof RangeError) return refused('is nested too deeply, or repeats too much, to be read');
    throw error;
  }
}

type Source = { readonly tools: readonly ParsedTool[]; readonly connections: readonly ParsedConnection[] };

function excessOf({ tools, connections }: Source, rules: RemoteRules): string | undefined {
  if (tools.length > rules.maxTools) return `holds ${tools.length} tools; max_tools is ${rules.maxTools}`;
  const length = [...tools, ...connections].reduce((sum, { jsonLength }) => sum + jsonLength, 0);
  return length > rules.maxJsonLength
    ? `stands for ${length} characters of JSON with everything its aliases repeat; expected at most ${rules.maxJsonLength}`
    : undefined;
}

function faultsOf({ tools, connections }: Source, rules: RemoteRules): readonly DescribedProblem[] {
  const usable = new Set([...rules.connections, ...connections.map(({ name }) => name)]);
  const isCallable = callableBy(tools, rules);
  const ofTools = tools.flatMap((tool) =>
    [
      ...valueFaults(tool.value),
      ...toolFaults(tool.value, rules, usable),
      ...callFaults(tool.value, isCallable),
    ].map((fault) => problemOf(tool, fault, nameOf(tool.value))),
  );
  const ofConnections = connections.flatMap((connection) =>
    [...valueFaults(connection.value), ...connectionFaults(connection.value, rules)].map((fault) => ({
      ...problemOf(connection, fault),
      path: ['connections', connection.name, ...fault.path].join('.'),
    })),
  );
  return [...ofTools, ...ofConnections];
}

function toolFaults(
  value: unknown,
  { toolTypes }: RemoteRules,
  usable: ReadonlySet<string>,
): readonly Fault[] {
  if (!isMap(value)) return [];
  const { tool_type: type, implementation_config: config } = value;
  const faults: Fault[] = [];
  // The older word for shell must not go past a list that does not name it.
  const named = type === 'sandbox' ? 'shell' : type;
  if (typeof named === 'string' && !toolTypes.includes(named)) {
    const message = `a tool of type "${named}" may not come from this source: its loader allows ${toolTypes.join(', ')} under tool_types`;
    faults.push({ path: ['tool_type'], message });
  }
  const connection = isMap(config) ? config['connection'] : undefined;
  if (typeof connection === 'string' && !usable.has(connection)) {
    const message = `the connection "${connection}" may not be used by tools of this source: name it in its loader under connections`;
    faults.push({ path: ['implementation_config', 'connection'], message });
  }
  return faults;
}

/** The document's own tools and their actions, and what its loader lists. */
function callableBy(tools: readonly ParsedTool[], { mayCall }: RemoteRules): (name: string) => boolean {
  const own = new Set(
    tools.flatMap(({ value }) => {
      const name = nameOf(value);
      const actions = isMap(value) && Array.isArray(value['actions']) ? value['actions'] : [];
      return name === undefined ? [] : [name, ...actions.map((action) => `${name}.${nameOf(action)}`)];
    }),
  );
  const isListed = globMatcher(mayCall);
  return (name) => own.has(name) || isListed(name);
}

/** The registry and each call hold to the same: here it is told with its line. */
function callFaults(value: unknown, isCallable: (name: string) => boolean): readonly Fault[] {
  return calledTools(value).flatMap(({ path, tool }) =>
    isCallable(tool)
      ? []
      : [
          {
            path,
            message: `the tool "${tool.slice(0, 128)}" is not of this document and may not be called by its tools: name it in its loader under may_call`,
          },
        ],
  );
}

/** What a composite's steps call, and what stands in for a tool on trial. */
function calledTools(value: unknown): readonly { readonly path: Path; readonly tool: string }[] {
  if (!isMap(value)) return [];
  const { canary, implementation_config: config, tool_type: type } = value;
  const steps = type === 'composite' && isMap(config) ? config['steps'] : undefined;
  const base = ['implementation_config', 'steps'];
  const places = Array.isArray(steps)
    ? steps.flatMap((step: unknown, index) => {
        const group = isMap(step) ? step['parallel'] : undefined;
        return Array.isArray(group)
          ? group.map((inner: unknown, at) => ({ value: inner, path: [...base, index, 'parallel', at] }))
          : [{ value: step, path: [...base, index] }];
      })
    : [];
  return [...places, { value: canary, path: ['canary'] }].flatMap(({ value: holder, path }) => {
    const tool = isMap(holder) ? holder['tool'] : undefined;
    return typeof tool === 'string' ? [{ path: [...path, 'tool'], tool }] : [];
  });
}

function connectionFaults(value: unknown, { allowConnections }: RemoteRules): readonly Fault[] {
  if (!allowConnections)
    return [
      {
        path: [],
        message: 'connections may not come from this source: its loader does not allow_connections',
      },
    ];
  return isMap(value)
    ? []
    : [{ path: [], message: 'expected a map with a type and the settings of that type' }];
}

/** Without recursion: depth is what it looks for. */
function valueFaults(root: unknown): readonly Fault[] {
  const faults: Fault[] = [];
  const open: { readonly value: unknown; readonly path: Path }[] = [{ value: root, path: [] }];
  for (let next = open.pop(); next !== undefined && faults.length < MOST_PROBLEMS; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && REFERENCE.test(value)) {
      const message =
        'a document from elsewhere may not refer to the environment or the files of this machine';
      faults.push({ path, message });
    }
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= MAX_DEPTH) return [{ path, message: `is nested deeper than ${MAX_DEPTH} levels` }];
    for (const [key, member] of Object.entries(value)) {
      const at = [...path, Array.isArray(value) ? Number(key) : key];
      const opened = isSetting(at) ? openedBy(key, member) : undefined;
      if (opened !== undefined) {
        const message = `a document from elsewhere may not open ${opened}: gateway.yaml may, under executors`;
        faults.push({ path: at, message });
      }
      open.push({ value: member, path: at });
    }
  }
  return faults.toReversed();
}

/** Of a tool's options or of a connection; a parameter in a schema may have any name. */
function isSetting(path: Path): boolean {
  return path.length === 1 || path[0] === 'implementation_config';
}

function problemOf(located: Located, { path, message }: Fault, tool?: string): DescribedProblem {
  const place = located.locate(path);
  return { ...place, ...(tool !== undefined && { tool }), path: path.join('.'), message };
}

function portable(located: Located, contentHash: string, text: string): ReadTool {
  const { line, column } = located.locate([]);
  const excerpt = { line, column, text: text.slice(located.start, located.end) };
  return { value: located.value, contentHash, excerpt };
}

function nameOf(value: unknown): string | undefined {
  const name = isMap(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name.slice(0, 128) : undefined;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
