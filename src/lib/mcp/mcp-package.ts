// A package that an MCP server comes in, as operators write it: `npm:name@1.2.3` or `pypi:name==1.2.3`.

export interface NamedPackage {
  readonly registry: 'npm' | 'pypi';
  readonly name: string;
  /** Of PyPI, as in `name[cli]`. */
  readonly extras: readonly string[];
  /** Undefined: none, or not one alone. */
  readonly version: string | undefined;
}

export interface ExactPackage extends NamedPackage {
  readonly version: string;
}

/** None begins with a dash: it would be an option to whoever installs it. */
const NPM = /^((?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*)(?:@(.+))?$/i;
const PYPI = /^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(?:\[([a-z0-9._,\s-]+)\])?(?:(?:==|@)(.+))?$/i;
const EXACT_NPM = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const EXACT_PYPI = /^(?:\d+!)?\d+(?:\.\d+)*[0-9A-Za-z.+]*$/;

/** `text` without its registry. Undefined: not the name of a package. */
export function readPackage(registry: NamedPackage['registry'], text: string): NamedPackage | undefined {
  const found = (registry === 'npm' ? NPM : PYPI).exec(text.trim());
  if (found === null) return undefined;
  const [, name = ''] = found;
  const [extras, said] = registry === 'npm' ? [undefined, found[2]] : [found[2], found[3]];
  const exact = registry === 'npm' ? EXACT_NPM : EXACT_PYPI;
  return {
    registry,
    name,
    extras: (extras ?? '').split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()])),
    version: said !== undefined && exact.test(said) ? said : undefined,
  };
}

/** Throws Error with a sentence for the operator. */
export function exactPackage(text: string): ExactPackage {
  const [, registry, rest = ''] = /^(npm|pypi):(.*)$/s.exec(text) ?? [];
  const found = registry === 'npm' || registry === 'pypi' ? readPackage(registry, rest) : undefined;
  if (found === undefined)
    throw new Error('Expected a package such as npm:@scope/name@1.2.3 or pypi:name==1.2.3.');
  const { version } = found;
  if (version !== undefined) return { ...found, version };
  throw new Error(
    `Expected the exact version, such as ${nameOf({ ...found, version: '1.2.3' })}: another one may be another program.`,
  );
}

/** As `package:` has it. */
export function nameOf({ registry, name, extras, version }: NamedPackage): string {
  const some = extras.length === 0 ? '' : `[${extras.join(',')}]`;
  const at = version === undefined ? '' : (registry === 'npm' ? '@' : '==') + version;
  return `${registry}:${name}${some}${at}`;
}
