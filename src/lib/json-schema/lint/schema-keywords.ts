// Rules for the keywords of one sub-schema: what Ajv would refuse, misread, or take too long over.
import { dialectOf } from '../ajv-instance.ts';
import { compilePattern, MAX_PATTERN_LENGTH } from '../re2-engine.ts';
import type { SchemaNode, SchemaProblem } from './schema-graph.ts';

/** Items and properties that one keyword may list where Ajv writes code for each. Beyond, compiling takes seconds. */
const MAX_PATTERN_PROPERTIES = 100;
const MAX_DEPENDENT_NAMES = 200;

const NO_REFERENCE = 'is not supported: use $ref with # or #/…';
/** Names a sub-schema, and nothing refers to it by that: a reference other than # or #/… is refused. */
const ANCHOR = /^[A-Za-z_][-A-Za-z0-9._]*$/;
const UNSUPPORTED = new Map([
  ['$dynamicRef', NO_REFERENCE],
  ['$dynamicAnchor', NO_REFERENCE],
  ['$recursiveRef', NO_REFERENCE],
  ['$recursiveAnchor', NO_REFERENCE],
  ['id', 'is not a keyword of this dialect, where it would be $id'],
  ['$async', 'is not supported: a schema is checked at once'],
]);

export function keywordProblems({ schema, path }: SchemaNode): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  const report = (message: string, ...steps: string[]) =>
    void problems.push({ path: [...path, ...steps], message });
  for (const keyword of Object.keys(schema)) {
    const unsupported = UNSUPPORTED.get(keyword);
    if (unsupported !== undefined) report(unsupported, keyword);
    else RULES.get(keyword)?.(schema[keyword], schema, report);
  }
  // On the root $id names the document, which nothing refers to; below, it moves the start of every $ref.
  if (path.length > 0 && schema['$id'] !== undefined) report('is supported at the root only', '$id');
  return problems;
}

type Say = (message: string, ...steps: string[]) => void;
type Rule = (value: unknown, schema: SchemaNode['schema'], report: Say) => void;

/** Only what the meta-schema does not report. */
const RULES = new Map<string, Rule>([
  [
    '$schema',
    (_value, schema, report) =>
      dialectOf(schema) ?? report('must be JSON Schema 2020-12 or draft-07', '$schema'),
  ],
  [
    '$anchor',
    (value, _schema, report) =>
      (typeof value === 'string' && ANCHOR.test(value)) ||
      report('must be a name: a letter or "_", then letters, digits, "-", "." or "_"', '$anchor'),
  ],
  ['pattern', (value, _schema, report) => patternProblem(value, (message) => report(message, 'pattern'))],
  ['patternProperties', checkPatternProperties],
  ['properties', checkProperties],
  [
    'enum',
    (value, _schema, report) =>
      Array.isArray(value) && value.length === 0 && report('must list at least one value', 'enum'),
  ],
  ['nullable', checkNullable],
  ['dependentRequired', (value, _schema, report) => checkDependencies(value, 'dependentRequired', report)],
  ['dependencies', (value, _schema, report) => checkDependencies(value, 'dependencies', report)],
]);

function patternProblem(pattern: unknown, report: (message: string) => void): void {
  if (typeof pattern !== 'string') return;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    report(`must not be a pattern longer than ${MAX_PATTERN_LENGTH} characters, found ${pattern.length}`);
    return;
  }
  try {
    compilePattern(pattern);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    report(`must be a pattern that RE2 runs (no look-around, no back-references): ${detail}`);
  }
}

function checkPatternProperties(value: unknown, _schema: SchemaNode['schema'], report: Say): void {
  const patterns = keysOf(value);
  if (patterns.length > MAX_PATTERN_PROPERTIES) {
    report(
      `must not have more than ${MAX_PATTERN_PROPERTIES} patterns, found ${patterns.length}`,
      'patternProperties',
    );
    return;
  }
  for (const pattern of patterns)
    patternProblem(pattern, (message) => report(message, 'patternProperties', pattern));
}

function checkProperties(value: unknown, _schema: SchemaNode['schema'], report: Say): void {
  if (keysOf(value).includes('__proto__'))
    report('is not possible as the name of a property', 'properties', '__proto__');
}

/** OpenAPI's keyword, which Ajv knows in both dialects and no meta-schema does. */
function checkNullable(value: unknown, { type }: SchemaNode['schema'], report: Say): void {
  if (typeof value !== 'boolean') report(`must be true or false, found ${typeof value}`, 'nullable');
  else if (type === undefined) report('needs type beside it', 'nullable');
  else if (!value && [type].flat().includes('null'))
    report('must not be false where type allows null', 'nullable');
}

function checkDependencies(value: unknown, keyword: string, report: Say): void {
  let names = 0;
  for (const key of keysOf(value)) {
    const dependency = (value as { [key: string]: unknown })[key];
    if (Array.isArray(dependency)) names += 1 + dependency.length;
  }
  if (names > MAX_DEPENDENT_NAMES)
    report(`must not name more than ${MAX_DEPENDENT_NAMES} properties, found ${names}`, keyword);
}

function keysOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}
