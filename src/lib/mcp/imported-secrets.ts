// Secrets of an mcp.json on their way to references: each becomes a variable of the environment that no other one has.
import { hasSecret, isSecretName, isSecretVariable } from './secret-variables.ts';

export interface MovedSecret {
  /** Of the environment. */
  readonly variable: string;
  /** Where its value stands in the file, for whoever sets it. Shows nothing of the value. */
  readonly place: string;
}

/** As other programs write it: `${input:name}`, `${env:NAME}`, `${NAME}`. */
const REFERENCE = /\$\{(?:(input|env):)?([A-Za-z_][\w.-]*)\}/g;
/** Anything between the braces would be read as a reference of the gateway's own. */
const BRACED = /\$\{[^}]*\}/g;
const STAND_IN = /^<.+>$|your[-_ ]|^xxx+$/i;
const PLAIN_HEADER = /^(?:accept|content-type|user-agent)$/i;
const HEADER = /^([A-Za-z][A-Za-z0-9-]*)(\s*:\s*)(?=\S)(.*)$/s;
const SCHEME = /^((?:Bearer|Basic|Token|ApiKey)\s+)(.*)$/is;
const ASSIGNED = /^(-{0,2}[A-Za-z_][\w.-]*)=(.*)$/s;
const OPTION = /^--?[A-Za-z][A-Za-z0-9_.-]*$/;
/** Options of a name and a password. */
const USER = /^(?:-u|--(?:proxy-)?user)$/;
/** Options that only sound like a secret. */
const COUNTS = /tokens$|timeout|max|min|ttl|limit|size|length|count|file$|path$|dir$/i;

/** Names of variables, for all servers of one file. */
export class VariableNames {
  readonly #taken = new Set<string>();
  readonly #referred = new Map<string, string>();

  /** `text`: the whole file. What it refers to keeps its name, whatever else would like to have it. */
  constructor(text: string) {
    for (const [, kind, name = ''] of text.matchAll(REFERENCE)) this.referred(kind, name);
  }

  referred(kind: string | undefined, name: string): string {
    // A variable of the environment is there under its name already.
    const key = `${kind === 'input' ? 'input' : 'env'}:${name}`;
    const known = this.#referred.get(key);
    if (known !== undefined) return known;
    const found = this.unique(name);
    this.#referred.set(key, found);
    return found;
  }

  unique(wanted: string): string {
    const clean = wanted
      .replaceAll(/[^A-Za-z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .toUpperCase();
    const fit = (/^\d/.test(clean) ? `_${clean}` : clean || 'SECRET').slice(0, 100);
    let name = fit;
    for (let n = 2; this.#taken.has(name); n += 1) name = `${fit}_${n}`;
    this.#taken.add(name);
    return name;
  }
}

/** Those of one server. */
export class ImportedSecrets {
  readonly moved: MovedSecret[] = [];
  readonly #server: string;
  readonly #names: VariableNames;

  constructor(server: string, names: VariableNames) {
    this.#server = server;
    this.#names = names;
  }

  inEnv(name: string, value: string): string {
    const place = `env ${name}`;
    const isOne = isSecretVariable(name, value) || hasSecret(value);
    return isReference(value) || !(isOne || STAND_IN.test(value))
      ? this.inText(value, place)
      : this.#move(name, place);
  }

  inHeader(name: string, value: string): string {
    const place = `header ${name}`;
    if (isReference(value)) return this.inText(value, place);
    const [, scheme = '', rest = value] = SCHEME.exec(value) ?? [];
    if (isReference(rest)) return scheme + this.inText(rest, place);
    const isPlain = PLAIN_HEADER.test(name) && !hasSecret(value) && !STAND_IN.test(value);
    return isPlain ? this.inText(value, place) : scheme + this.#move(name, place);
  }

  /** Options with their values, headers, assignments and whatever looks like a secret by itself. */
  inArguments(args: readonly string[]): readonly string[] {
    let before: string | undefined;
    return args.map((arg, at) => {
      const named =
        before !== undefined && isSecretOption(before) && !isSwitchValue(arg) ? before : undefined;
      before = OPTION.test(arg) ? arg : undefined;
      // Behind such an option a word with a dash may be its value as well as the next option.
      if (USER.test(args[at - 1] ?? '') && arg.includes(':'))
        return this.#whole(arg, args[at - 1] ?? '', `argument ${args[at - 1]}`);
      if (named !== undefined && (before === undefined || hasSecret(arg)))
        return this.#whole(arg, named, `argument ${named}`);
      return this.#argument(arg, at);
    });
  }

  /** The runner's own words: what fetches the package, and from where. */
  inRunnerWords(args: readonly string[]): readonly string[] {
    return args.map((arg) =>
      /:\/\/[^/\s]*@/.test(arg) || isSecretOption(ASSIGNED.exec(arg)?.[1] ?? '')
        ? this.#argument(arg, 0)
        : this.inText(arg, 'an argument'),
    );
  }

  /** Of a URL without user: its query, and what looks like a secret in its path. */
  inUrl(url: string): string {
    const [, base = '', path = '', query] = /^([^:]+:\/\/[^/?#]*)([^?#]*)(?:\?([^#]*))?/s.exec(url) ?? [];
    const segments = path.split('/').map((segment) => {
      const isOne = !isReference(segment) && (hasSecret(segment) || hasSecret(decoded(segment)));
      return isOne ? this.#move('PATH', 'the path of its url') : this.inText(segment, 'url');
    });
    const members = query?.split('&').map((member) => {
      const [name = '', ...more] = member.split('=');
      const value = more.join('=');
      const isOne = isSecretVariable(name, decoded(value)) || hasSecret(value) || hasSecret(decoded(value));
      if (hasSecret(name) || hasSecret(decoded(name))) return this.#move('QUERY', 'the query of its url');
      if (value === '') return member;
      if (isReference(value) || !(isOne || STAND_IN.test(decoded(value)))) return this.inText(member, 'url');
      return `${name}=${this.#move(name, `${name} in the query of its url, as it stands there`)}`;
    });
    return base + segments.join('/') + (members === undefined ? '' : `?${members.join('&')}`);
  }

  /** Of a URL that names a user: they go into a header instead. */
  basicAuthorization(): string {
    return this.#move(
      'AUTHORIZATION',
      'the user and password of its url, as "Basic " and the base64 of user:password',
    );
  }

  /** References of other programs alone. */
  inText(text: string, place: string): string {
    return text.replaceAll(BRACED, (braced) => {
      const [, kind, name] = new RegExp(`^${REFERENCE.source}$`).exec(braced) ?? [];
      if (name === undefined) return this.#move('VALUE', place);
      return this.#keep(this.#names.referred(kind, name), `${kind ?? 'env'} ${name}`);
    });
  }

  #argument(arg: string, at: number): string {
    const place = `argument ${at + 1}`;
    const assigned = ASSIGNED.exec(arg);
    if (assigned !== null) {
      const [, name = '', value = ''] = assigned;
      const isOne = isSecretOption(name) && !isSwitchValue(value);
      if (isOne || hasSecret(value)) return `${name}=${this.#whole(value, name, `argument ${name}`)}`;
      if (hasSecret(name)) return this.#whole(arg, 'ARGUMENT', place);
      return this.inText(arg, place);
    }
    const header = HEADER.exec(arg);
    if (header !== null && isSecretName(header[1] ?? '')) {
      const [, name = '', colon = '', value = ''] = header;
      if (!value.startsWith('//')) return name + colon + this.inHeader(name, value);
    }
    // An option's name is no secret, however long, unless it is one that only begins as an option does.
    if (OPTION.test(arg) && !/\d/.test(arg)) return arg;
    return hasSecret(arg) || STAND_IN.test(arg)
      ? this.#whole(arg, 'ARGUMENT', place)
      : this.inText(arg, place);
  }

  /** A reference in the place of all of it, or the reference that it is. */
  #whole(value: string, name: string, place: string): string {
    return isReference(value) ? this.inText(value, place) : this.#move(name, place);
  }

  #move(name: string, place: string): string {
    return this.#keep(this.#names.unique(`${this.#server}_${name}`), place);
  }

  #keep(variable: string, place: string): string {
    if (!this.moved.some((each) => each.variable === variable)) this.moved.push({ variable, place });
    return `\${env:${variable}}`;
  }
}

function isReference(text: string): boolean {
  return new RegExp(`^${REFERENCE.source}$`).test(text);
}

function isSecretOption(option: string): boolean {
  return isSecretName(option) && !COUNTS.test(option) && !option.startsWith('--no-');
}

function isSwitchValue(value: string): boolean {
  return value === '' || /^(?:true|false|yes|no|on|off|none)$/i.test(value);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
