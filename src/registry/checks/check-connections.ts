// Checks connections: each name once, a type that some executor takes, settings that fit it.
import type { Problem, RawConnection } from '../../contract/tool/loaded-tools.ts';
import type { Origin } from '../../contract/tool/origin.ts';
import type { Connection } from '../../contract/plugin.ts';
import { isJsonObject } from '../../contract/json.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { faultsOf, foundText, type Fault } from '../../lib/faults/faults.ts';
import { problemOf } from './problem-of.ts';
import type { SpecRules } from '../spec-rules.ts';
import { connectionLimitSchema } from './tool-spec-schema.ts';

export interface ConnectionsCheck {
  readonly connections: ReadonlyMap<string, Connection>;
  /** Names that are there but wrong: tools that use them are not blamed as well. */
  readonly faulty: ReadonlySet<string>;
  readonly problems: readonly Problem[];
}

type Known = (key: string) => Connection | undefined;

/** `keep` is told each good one by its content, so that an unchanged connection stays the same object. */
export function checkConnections(
  raws: readonly RawConnection[],
  rules: SpecRules,
  known: Known,
  keep: (key: string, connection: Connection) => void,
): ConnectionsCheck {
  const connections = new Map<string, Connection>();
  const faulty = new Set<string>();
  const problems: Problem[] = [];
  const first = new Map<string, RawConnection>();
  for (const raw of raws) {
    const { name } = raw;
    const earlier = first.get(name);
    const key = `${name} ${raw.contentHash}`;
    const made = known(key) ?? makeConnection(raw, rules);
    const faults = earlier !== undefined ? [takenName(name, earlier)] : 'faults' in made ? made.faults : [];
    first.set(name, earlier ?? raw);
    for (const fault of faults) problems.push(connectionProblem(raw, fault));
    if (faults.length > 0) faulty.add(name);
    else if (!('faults' in made)) {
      connections.set(name, made);
      keep(key, made);
    }
  }
  return { connections, faulty, problems };
}

function connectionProblem(raw: RawConnection, fault: Fault): Problem {
  const { tool: _none, ...problem } = problemOf(raw, undefined, fault);
  return { ...problem, path: ['connections', raw.name, ...fault.path].join('.') };
}

function takenName(name: string, earlier: RawConnection): Fault {
  const { file, line } = earlier.locate([]);
  return {
    path: [],
    isKey: true,
    message: `the connection "${name}" is declared already in ${file}:${line ?? 1}`,
  };
}

function makeConnection(
  raw: RawConnection,
  rules: SpecRules,
): Connection | { readonly faults: readonly Fault[] } {
  const { name, resolved: whole, origin, secrets } = raw;
  const { concurrency, ...resolved } = whole;
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name)) {
    return {
      faults: [
        { path: [], isKey: true, message: 'expected a name of 1 to 128 letters, digits, "_", "." or "-"' },
      ],
    };
  }
  const types = connectionTypes(rules);
  const { type } = resolved;
  if (typeof type !== 'string') {
    const found = type === undefined ? 'is required' : foundText(type);
    return {
      faults: [{ path: ['type'], message: `${found}: expected one of ${[...types.keys()].join(', ')}` }],
    };
  }
  const schema = types.get(type);
  if (schema === undefined) {
    const near = didYouMean(type, types.keys());
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    return {
      faults: [
        {
          path: ['type'],
          message: `type "${type}": no executor here takes it; known: ${[...types.keys()].join(', ')}${hint}`,
        },
      ],
    };
  }
  const refusal = rules.refusedConnections?.get(type);
  if (refusal !== undefined) return { faults: [{ path: ['type'], message: `type "${type}": ${refusal}` }] };
  const parsed = schema.safeParse(resolved);
  const limit = connectionLimitSchema.optional().safeParse(concurrency);
  const faults = [
    ...(parsed.success ? [] : faultsOf(parsed.error, { schema, value: resolved, isSecret: () => true })),
    ...(limit.success ? [] : faultsOf(limit.error, limitAt(concurrency))),
  ];
  if (!parsed.success || !limit.success) return { faults };
  const settings = isJsonObject(parsed.data) ? parsed.data : resolved;
  const made = { name, type, settings, ...(secrets && { secrets }), ...(origin && { origin }) };
  if (limit.data === undefined) return made;
  const { limit: most, max_queue: maxQueue, max_wait_ms: maxWaitMs } = limit.data;
  return { ...made, concurrency: { connection: name, limit: most, maxQueue, maxWaitMs } };
}

function limitAt(value: unknown) {
  return { schema: connectionLimitSchema, value, base: ['concurrency'] };
}

/** Types of connections by name. Where executors share a type, the first one's schema holds. */
function connectionTypes(rules: SpecRules) {
  const types = [...rules.executors.values()].flatMap(({ connectionTypes }) =>
    Object.entries(connectionTypes ?? {}),
  );
  return new Map(types.toReversed());
}

export interface ConnectionUse {
  readonly connectionName?: string;
  readonly toolType: string;
  readonly origin?: Origin;
}

/** Undefined: the tool names no connection, or one that is there and of a type its executor takes. */
export function connectionFault(
  { connectionName: name, toolType, origin }: ConnectionUse,
  { connections, faulty }: Pick<ConnectionsCheck, 'connections' | 'faulty'>,
  rules: SpecRules,
): Fault | undefined {
  if (name === undefined || faulty.has(name)) return undefined;
  const path = ['implementation_config', 'connection'];
  const connection = connections.get(name);
  if (connection === undefined) {
    const near = didYouMean(name, connections.keys());
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    return { path, message: `there is no connection "${name}"${hint}` };
  }
  if (connection.origin !== undefined && connection.origin.source !== origin?.source)
    return {
      path,
      message: `the connection "${name}" comes from a document elsewhere, for its own tools alone`,
    };
  const taken = Object.keys(rules.executors.get(toolType)?.connectionTypes ?? {});
  if (taken.includes(connection.type)) return undefined;
  return {
    path,
    message: `expected a connection of type ${taken.join(' or ')}, found "${name}" of type ${connection.type}`,
  };
}
