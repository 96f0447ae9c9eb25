// A whole text in the format of tools.yaml: raw tools and connections, each with its place, and what is wrong with it.
import { hash } from 'node:crypto';
import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type YAMLMap } from 'yaml';
import type { DescribedProblem } from '../text/describe-problem.ts';
import { didYouMean } from '../text/did-you-mean.ts';
import { noAnchor, syntaxWords } from './syntax-words.ts';
import {
  locateIn,
  MAX_ALIASES,
  parseYaml,
  yamlProblems,
  type Path,
  type Place,
  type YamlText,
} from './yaml-text.ts';

export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** `locate` may be slow: it is asked only about problems. */
interface Parsed {
  readonly value: unknown;
  /** Of its value as JSON text: with everything that aliases repeat. */
  readonly jsonLength: number;
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
  readonly locate: (path: Path, what?: 'key' | 'value') => Place;
}

export interface ParsedTool extends Parsed {
  readonly contentHash: string;
}

export interface ParsedConnection extends Parsed {
  readonly name: string;
}

export interface WholeSource {
  readonly tools: readonly ParsedTool[];
  /** References not yet resolved. */
  readonly connections: readonly ParsedConnection[];
  readonly problems: readonly DescribedProblem[];
}

const TOP_LEVEL = ['tools', 'connections'];

/** The ordinary way, which understands all of YAML. Costs about half a second per megabyte, in one go. */
export function parseWhole(source: SourceText): WholeSource {
  const text: YamlText = { file: source.file, text: source.text, lineOf: (line) => line };
  const document = parseYaml(source.text);
  const broken = yamlProblems(text, document);
  if (broken.length > 0) return { tools: [], connections: [], problems: broken };
  const { items, connections, problems } = readTopLevel(text, document);
  const found: DescribedProblem[] = problems.length > 0 ? [...problems] : nothingSaid(text, document);
  const tools: ParsedTool[] = [];
  for (const [index, item] of items.entries()) {
    const [start = 0, end = 0] = item.range ?? [];
    const locate = (path: Path, what: 'key' | 'value' = 'value') =>
      locateIn(text, ['tools', index, ...path], what, start);
    const read = plainValue(item, document);
    if ('message' in read) {
      found.push({ ...locate([]), message: read.message });
      continue;
    }
    const contentHash = hash('sha256', `${read.json}\n${source.text.slice(start, end)}`);
    tools.push({ value: read.value, contentHash, start, end, jsonLength: read.json.length, locate });
  }
  return { tools, connections, problems: found };
}

const NONE_ON_PURPOSE =
  'a file that is not written to its end looks like this, too; "tools: []" says that none are meant';

/** A file that was emptied or is half-written must not take the tools away: that there are none has to be said. */
function nothingSaid(source: YamlText, { contents }: Document.Parsed): DescribedProblem[] {
  const map = isMap(contents) ? contents : undefined;
  if (map?.has('tools') === true) {
    if (!isEmpty(map.get('tools', true))) return [];
    const message = `expected a list of tools, found nothing: ${NONE_ON_PURPOSE}`;
    return [{ ...locateIn(source, ['tools'], 'key'), path: 'tools', message }];
  }
  const connections = map?.get('connections', true);
  if (!isEmpty(connections) && !(isMap(connections) && connections.items.length === 0)) return [];
  const message = `holds no tools and no connections: ${NONE_ON_PURPOSE}`;
  return [{ ...locateIn(source, [], 'value'), message }];
}

interface TopLevel {
  readonly items: readonly Node[];
  readonly connections: readonly ParsedConnection[];
  readonly problems: readonly DescribedProblem[];
}

/** What stands beside the tools, and the nodes of those. */
export function readTopLevel(source: YamlText, document: Document.Parsed): TopLevel {
  const { contents } = document;
  const at = (path: Path, what: 'key' | 'value', message: string): DescribedProblem => ({
    ...locateIn(source, path, what),
    message,
  });
  if (contents === null || isEmpty(contents)) return { items: [], connections: [], problems: [] };
  if (!isMap(contents)) {
    const problems = [at([], 'value', 'expected a map with the keys "tools" and "connections"')];
    return { items: [], connections: [], problems };
  }
  const problems = unknownKeys(contents).map(({ key, message }) => at([key], 'key', message));
  for (const key of TOP_LEVEL) {
    const value = contents.get(key, true);
    // Taken for nothing, it would take all tools away.
    if (isAlias(value) && resolved(value, document) === undefined)
      problems.push(at([key], 'value', noAnchor(value.source)));
  }
  const tools = resolved(contents.get('tools', true), document);
  if (!isEmpty(tools) && !isSeq(tools))
    problems.push(at(['tools'], 'value', 'expected a list of tools, each beginning with "-"'));
  const connections: ParsedConnection[] = [];
  const map = resolved(contents.get('connections', true), document);
  if (!isEmpty(map) && !isMap(map))
    problems.push(at(['connections'], 'value', 'expected a map of connections by name'));
  for (const { key, value } of isMap(map) ? map.items : []) {
    const name = String((key as { value?: unknown }).value);
    const locate = (path: Path, what: 'key' | 'value' = 'value') =>
      locateIn(source, ['connections', name, ...path], what);
    const read = plainValue(value as Node | null, document);
    if ('message' in read)
      problems.push({ ...locate([]), path: `connections.${name}`, message: read.message });
    else {
      const [start = 0, end = 0] = (value as Node | null)?.range ?? [];
      connections.push({ name, value: read.value, jsonLength: read.json.length, start, end, locate });
    }
  }
  return { items: isSeq(tools) ? (tools.items as Node[]) : [], connections, problems };
}

function unknownKeys(contents: YAMLMap): readonly { readonly key: string; readonly message: string }[] {
  const keys = contents.items.map(({ key }) => String((key as { value?: unknown }).value));
  return keys
    .filter((key) => !TOP_LEVEL.includes(key))
    .map((key) => {
      const near = didYouMean(key, TOP_LEVEL);
      const hint = near === undefined ? '' : `; did you mean "${near}"?`;
      return { key, message: `unknown key "${key}"; expected "tools" or "connections"${hint}` };
    });
}

type PlainValue = { readonly value: unknown; readonly json: string } | { readonly message: string };

function plainValue(node: Node | null, document: Document.Parsed): PlainValue {
  try {
    const value: unknown = node === null ? null : node.toJS(document, { maxAliasCount: MAX_ALIASES });
    // Fails on what an alias inside its own anchor makes.
    return { value, json: JSON.stringify(value) ?? 'null' };
  } catch (error) {
    return { message: `cannot be read: ${syntaxWords((error as Error).message)}` };
  }
}

function resolved(node: unknown, document: Document.Parsed): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function isEmpty(node: unknown): boolean {
  return node === undefined || node === null || (isScalar(node) && node.value === null);
}
