// Paths that are the gateway's own, today's and those to come: nothing that an operator declares may stand there.
import { formOf, type PathPattern } from './route-pattern.ts';

/** First parts of paths, in lower case. */
const OWN = new Set([
  'v1',
  'v2',
  'v3',
  'mcp',
  'oauth',
  'docs',
  'openapi.json',
  'livez',
  'readyz',
  'healthz',
  'metrics',
  'favicon.ico',
  'robots.txt',
  '.well-known',
]);

/** The one place under them that is not: what packs add for operators, each below a name of its own. */
export const OPERATORS_PATH = '/v1/admin/packs';

/** Undefined: a route may be declared there. */
export function ownPathFault(pattern: PathPattern): string | undefined {
  const form = formOf(pattern);
  if (form.startsWith(`${OPERATORS_PATH}/`)) {
    const [name, ...rest] = form.slice(OPERATORS_PATH.length + 1).split('/');
    if (name !== '{}' && rest.length > 0) return undefined;
    return `expected ${OPERATORS_PATH}/<name>/… : a name, and at least one more part`;
  }
  const [first] = pattern;
  if (first === undefined || 'name' in first)
    return 'expected a path whose first part is fixed: one that begins with an argument takes every request';
  if (!isOwn(first.literal)) return undefined;
  return `/${first.literal} is the gateway's own: expected another first part, or ${OPERATORS_PATH}/<name>/…`;
}

export function isOwn(firstStep: string): boolean {
  return OWN.has(firstStep.toLowerCase());
}
