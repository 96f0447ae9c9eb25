// HostFacts: where this machine keeps the sandbox's own programs and the system's, looked up once.
import { existsSync, lstatSync, readlinkSync, readFileSync, readdirSync } from 'node:fs';

export interface HostFacts {
  readonly bwrap: string | undefined;
  readonly prlimit: string | undefined;
  readonly python: string | undefined;
  /** Folders of the system's programs and libraries; those beside /usr are links into it on most systems. */
  readonly systemFolders: readonly string[];
  readonly systemLinks: ReadonlyMap<string, string>;
  /** Files that programs need to find libraries, alternatives and the local time. They tell nothing secret. */
  readonly systemFiles: readonly string[];
  /** Files of name resolution and trusted authorities, for programs with a network. */
  readonly networkFiles: readonly string[];
}

const PLACES = ['/usr/bin', '/bin', '/usr/local/bin'];

export function readHostFacts(): HostFacts {
  const programOf = (name: string) =>
    PLACES.map((place) => `${place}/${name}`).find((path) => existsSync(path));
  const beside = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter((path) => existsSync(path));
  const links = beside.filter((path) => lstatSync(path).isSymbolicLink());
  return {
    bwrap: programOf('bwrap'),
    prlimit: programOf('prlimit'),
    python: programOf('python3'),
    systemFolders: ['/usr', ...beside.filter((path) => !links.includes(path))],
    systemLinks: new Map(links.map((path) => [path, readlinkSync(path)])),
    systemFiles: ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime'].filter((path) =>
      existsSync(path),
    ),
    networkFiles: [
      '/etc/resolv.conf',
      '/etc/hosts',
      '/etc/nsswitch.conf',
      '/etc/ssl/certs',
      '/etc/pki/tls',
    ].filter((path) => existsSync(path)),
  };
}

const O_CLOEXEC = 0o2000000;

/** Descriptors that every child would get: this process was given them, and nobody marked them as its own. */
export function leakingFds(): readonly number[] {
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((fd) => fd > 2 && !isClosedOnExec(fd));
}

function isClosedOnExec(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    // The descriptor of the listing itself, gone by now.
    return true;
  }
}
