// Settings of a request that would have no effect where they stand: refused at load, so that nobody believes in them.
import { isJsonObject } from '../../contract/json.ts';
import { requestTemplate } from './request/agent-values.ts';
import type { BodyPartRule } from './request-fields.ts';

export interface IdleSetting {
  readonly path: readonly string[];
  readonly message: string;
}

interface PairRule {
  readonly style?: string | undefined;
  readonly explode?: boolean | undefined;
  readonly lists?: string | undefined;
}

interface Rules<Rule> {
  readonly [name: string]: Rule;
}

/** What of a request is looked at. */
export interface RequestSettings {
  readonly url?: string | undefined;
  readonly path?: string | undefined;
  readonly query?: 'remaining' | Rules<PairRule | string | number | boolean> | undefined;
  readonly cookies?: Rules<PairRule | string | number | boolean> | undefined;
  readonly path_slashes?: string | undefined;
  readonly path_arguments?:
    | Rules<Omit<PairRule, 'lists'> & { readonly name?: string | undefined }>
    | undefined;
  readonly header_arguments?: Rules<Omit<PairRule, 'lists'>> | undefined;
  readonly body?: unknown;
  readonly body_as?: string | undefined;
  readonly body_parts?: Rules<BodyPartRule> | undefined;
  readonly file_urls?: unknown;
  readonly max_file_bytes?: number | undefined;
  readonly response?: string | { readonly as?: string | undefined } | undefined;
  readonly large_numbers?: string | undefined;
}

type Find = (request: RequestSettings) => readonly IdleSetting[];

const FIND: readonly Find[] = [
  idlePairs,
  idlePathRules,
  idleHeaders,
  idleBody,
  idleParts,
  idleFiles,
  idleAnswer,
];

export function idleSettings(request: RequestSettings): readonly IdleSetting[] {
  return FIND.flatMap((find) => find(request));
}

function idlePairs({ query, cookies }: RequestSettings): readonly IdleSetting[] {
  return Object.entries({ query, cookies }).flatMap(([place, values]) =>
    typeof values !== 'object'
      ? []
      : Object.entries(values).flatMap(([name, value]) =>
          typeof value === 'object' ? idleInPair(value, [place, name]) : [],
        ),
  );
}

function idleInPair({ style, explode, lists }: PairRule, path: readonly string[]): readonly IdleSetting[] {
  const found: IdleSetting[] = [];
  if (lists !== undefined && style !== 'deepObject')
    found.push(
      idle([...path, 'lists'], 'says how deepObject writes the items of a list: it needs style: deepObject'),
    );
  if (explode !== undefined && (style === 'json' || style === 'deepObject'))
    found.push(
      idle([...path, 'explode'], `has no effect with style: ${style}, which writes every value in one way`),
    );
  return found;
}

function idlePathRules({ url = '', path = '', ...rest }: RequestSettings): readonly IdleSetting[] {
  const { path_slashes: slashes, path_arguments: rules = {} } = rest;
  const names = placeholdersOf(url + path);
  const found: IdleSetting[] = [];
  if (slashes !== undefined && names.length === 0)
    found.push(idle(['path_slashes'], 'is about arguments in the path, and there is none'));
  for (const [argument, { style = 'simple', explode, name }] of Object.entries(rules)) {
    const at = ['path_arguments', argument];
    if (!names.includes(argument)) found.push(idle(at, 'stands nowhere in the path'));
    if (explode !== undefined && style === 'json')
      found.push(idle([...at, 'explode'], 'has no effect with style: json, which writes one text'));
    if (name !== undefined && style !== 'matrix')
      found.push(idle([...at, 'name'], 'is what matrix calls the value: it needs style: matrix'));
  }
  return found;
}

/** A template that is none is told by itself. */
function placeholdersOf(text: string): readonly string[] {
  try {
    return requestTemplate(text).names;
  } catch {
    return [];
  }
}

function idleHeaders({ header_arguments: headers = {} }: RequestSettings): readonly IdleSetting[] {
  return Object.entries(headers)
    .filter(([, { style, explode }]) => style === 'json' && explode !== undefined)
    .map(([name]) =>
      idle(['header_arguments', name, 'explode'], 'has no effect with style: json, which writes one text'),
    );
}

function idleBody({ body, body_as: kind }: RequestSettings): readonly IdleSetting[] {
  return body === undefined && kind !== undefined
    ? [idle(['body_as'], 'is about the body, and there is none')]
    : [];
}

function idleParts({ body, body_as: kind, body_parts: rules }: RequestSettings): readonly IdleSetting[] {
  if (rules === undefined) return [];
  if (kind !== 'form' && kind !== 'multipart')
    return [idle(['body_parts'], 'is about the members of a form: it needs body_as: form or multipart')];
  const isInForm = kind === 'form';
  return Object.entries(rules).flatMap(([name, rule]) => {
    const at = ['body_parts', name];
    const found: IdleSetting[] = [];
    if (isJsonObject(body) && !Object.hasOwn(body, name)) found.push(idle(at, 'is no member of the body'));
    for (const field of ['content_type', 'file'] as const)
      if (isInForm && rule[field] !== undefined)
        found.push(idle([...at, field], 'is about parts of multipart: it has no effect with body_as: form'));
    for (const field of ['style', 'explode', 'lists'] as const)
      if (!isInForm && rule[field] !== undefined)
        found.push(
          idle([...at, field], 'is about pairs of a form: it has no effect with body_as: multipart'),
        );
    return isInForm ? [...found, ...idleInPair(rule, at)] : found;
  });
}

function idleFiles({
  body_as: kind,
  body_parts: rules = {},
  ...rest
}: RequestSettings): readonly IdleSetting[] {
  const isInParts = kind === 'multipart' && Object.values(rules).some(({ file }) => file === true);
  if (kind === 'file' || isInParts) return [];
  return (['file_urls', 'max_file_bytes'] as const)
    .filter((field) => rest[field] !== undefined)
    .map((field) =>
      idle([field], 'is about files that are sent: it needs body_as: file, or a part with file: true'),
    );
}

function idleAnswer({ response, large_numbers: numbers }: RequestSettings): readonly IdleSetting[] {
  const kind = typeof response === 'object' ? response.as : response;
  return numbers !== undefined && (kind === 'text' || kind === 'file')
    ? [idle(['large_numbers'], `is about numbers in JSON, and the answer is read as ${kind}`)]
    : [];
}

function idle(path: readonly string[], why: string): IdleSetting {
  return { path, message: `${path.at(-1)} ${why}.` };
}
