// HostsFile: the names that this machine itself gives to addresses, read again only when the file has changed.
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

type Hosts = ReadonlyMap<string, readonly string[]>;

const NONE: Hosts = new Map();

export class HostsFile {
  readonly #path: string;
  #seen = '';
  #hosts: Hosts = NONE;

  constructor(path: string) {
    this.#path = path;
  }

  /** Without a trailing dot, in lower case. No search domains: the file holds whole names. */
  async find(name: string): Promise<readonly string[] | undefined> {
    const about = await stat(this.#path).catch(() => undefined);
    const seen = about === undefined ? '-' : `${about.ino} ${about.size} ${about.mtimeMs}`;
    if (seen !== this.#seen) {
      this.#hosts = about === undefined ? NONE : parseHosts(await readFile(this.#path, 'utf8'));
      this.#seen = seen;
    }
    return this.#hosts.get(name);
  }
}

/** Every line that names it counts, as an address of either family. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const known = hosts.get(name) ?? [];
      if (!known.includes(address)) hosts.set(name, [...known, address]);
    }
  }
  return hosts;
}
