// gateway.yaml with one more pack: as it was written, comments included, and with the entry at the end of its loaders.
import { Document, isMap, isNode, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from 'yaml';

/** What settings say where they say nothing of loaders: adding one must not take those tools away. */
const LOADERS_BY_DEFAULT = [{ type: 'yaml-file', paths: ['tools.yaml'] }];

export interface PackEntry {
  readonly name: string;
  /** Names of its tools that are left out. */
  readonly without: readonly string[];
  /** By the name of the choice. */
  readonly choose?: { readonly [choice: string]: string };
}

export type WithEntry = { readonly text: string } | 'there already' | { readonly message: string };

/** `text`: undefined where there is no gateway.yaml yet; its tools are those of the pack alone then. */
export function addPackEntry(text: string | undefined, wanted: PackEntry): WithEntry {
  const { name, without, choose = {} } = wanted;
  const document: Document = parseDocument(text ?? '');
  const [error] = document.errors;
  if (error !== undefined) return { message: error.message };
  document.contents ??= document.createNode({});
  if (!isMap(document.contents)) return { message: 'expected a map of settings' };
  if (!document.has('loaders')) {
    const loaders = text === undefined ? [] : LOADERS_BY_DEFAULT;
    document.set('loaders', document.createNode(loaders));
  }
  const loaders: unknown = document.get('loaders', true);
  if (!isSeq(loaders)) return { message: 'loaders: expected a list of entries' };
  const there = loaders.items.find(
    (item): item is YAMLMap => isMap(item) && item.get('type') === 'pack' && item.get('name') === name,
  );
  if (there !== undefined) return asWanted(there, wanted);
  const overrides = Object.fromEntries(without.map((tool) => [tool, { off: true }]));
  const chosen = Object.keys(choose).length > 0 && { choose };
  const entry = { type: 'pack', name, ...chosen, ...(without.length > 0 && { overrides }) };
  const written = text === undefined ? undefined : writtenBehind(text, loaders, entry);
  if (written !== undefined) return { text: written };
  loaders.flow = false;
  loaders.add(document.createNode(entry));
  return { text: document.toString({ lineWidth: 0 }) };
}

/** What the operator has written there is not changed: that it says something else is told. */
function asWanted(there: YAMLMap, { name, without, choose = {} }: PackEntry): WithEntry {
  const lacks = [
    ...Object.entries(choose)
      .filter(([choice, value]) => there.getIn(['choose', choice]) !== value)
      .map(([choice, value]) => `choose: { ${choice}: ${value} }`),
    ...without
      .filter((tool) => there.getIn(['overrides', tool, 'off']) !== true)
      .map((tool) => `overrides: { ${tool}: { off: true } }`),
  ];
  if (lacks.length === 0) return 'there already';
  return { message: `the pack ${name} is named already, without ${lacks.join(' and ')}: write that there` };
}

/** The text as it is with one line more. Undefined: the list is not one of lines that begin with a dash. */
function writtenBehind(text: string, loaders: YAMLSeq, entry: object): string | undefined {
  const last = loaders.items.at(-1);
  const [start, end] = (isNode(last) ? last.range : undefined) ?? [];
  if (loaders.flow === true || start === undefined || end === undefined) return undefined;
  const dash = text.lastIndexOf('-', start);
  const indent = text.slice(text.lastIndexOf('\n', dash) + 1, dash);
  if (indent.trim() !== '') return undefined;
  const lineEnd = text.indexOf('\n', end - 1);
  const at = lineEnd < 0 ? text.length : lineEnd + 1;
  const before = lineEnd < 0 ? `${text}\n` : text.slice(0, at);
  const document = new Document(entry);
  if (isMap(document.contents)) document.contents.flow = true;
  return `${before}${indent}- ${document.toString({ lineWidth: 0 })}${text.slice(at)}`;
}
