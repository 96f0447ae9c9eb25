// WorkspaceArchive: what a folder holds as one file, packed and unpacked by tar as the sandbox's user.
import { closeSync, constants, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Clock } from '../../../ports/clock.ts';
import type { ProcessExit } from '../../../ports/egress/process-spawner.ts';
import type { ProcessStarter } from '../../process/process-starter.ts';
import { namedBytes } from './folder-usage.ts';
import { O_PATH, type Owner } from './workspace-files.ts';

const ENV = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
const TAR_MS = 30_000;
/** `ulimit -f` counts in these. */
const ULIMIT_BLOCK = 512;
const MAX_SAID = 500;

// What runs is fixed: nothing of a caller is in it. Descriptor 3 is the folder, 4 the archive.
/** What stands in the folder already was written for this run, and stays. */
const UNPACK = 'exec tar --extract --same-permissions --skip-old-files -C /proc/self/fd/3 <&4';
const PACK = 'exec tar --create --sparse --format=gnu -C /proc/self/fd/3 . >&4';
const OPEN_UP = 'chmod u+rwx /proc/self/fd/3 && exec chmod -R u+rwX /proc/self/fd/3/.';

export interface ArchiveDeps {
  readonly starter: ProcessStarter;
  readonly clock: Clock;
  /** Whom the sandbox runs as; undefined: as the gateway. */
  readonly owner: Owner | undefined;
}

interface Ended extends ProcessExit {
  readonly said: string;
}

export class WorkspaceArchive {
  readonly #deps: ArchiveDeps;

  constructor(deps: ArchiveDeps) {
    this.#deps = deps;
  }

  async unpack(archive: string, folder: number): Promise<void> {
    const { code, said } = await this.#run(UNPACK, folder, openSync(archive, constants.O_RDONLY));
    if (code !== 0) throw new Error(`tar cannot unpack the workspace: ${said}`);
  }

  /** Into a new file. False: it is more than `maxBytes`, or than anybody needs. Nobody may still write to the folder. */
  async pack(folder: number, archive: string, maxBytes: number): Promise<boolean> {
    try {
      return await this.#packOnce(folder, archive, maxBytes);
    } catch {
      // A program may have shut files and folders to their own owner.
      await this.#run(OPEN_UP, folder);
      return await this.#packOnce(folder, archive, maxBytes);
    }
  }

  async #packOnce(folder: number, archive: string, maxBytes: number): Promise<boolean> {
    if ((await namedBytes(`/proc/self/fd/${folder}/.`)) === Infinity) return false;
    const { O_CREAT, O_TRUNC, O_WRONLY } = constants;
    const script = `ulimit -f ${Math.floor(maxBytes / ULIMIT_BLOCK)} && ${PACK}`;
    const to = openSync(archive, O_CREAT | O_TRUNC | O_WRONLY, 0o600);
    const { code, signal, said } = await this.#run(script, folder, to);
    if (signal === 'SIGXFSZ') return false;
    if (code !== 0) throw new Error(`tar cannot pack the workspace: ${said}`);
    return true;
  }

  /** `archive` is closed in any case. */
  async #run(script: string, folder: number, archive?: number): Promise<Ended> {
    const { starter, clock, owner } = this.#deps;
    const lent = new Map(archive === undefined ? [] : [[4, archive]]);
    try {
      lent.set(3, openSync(`/proc/self/fd/${folder}`, O_PATH | constants.O_DIRECTORY));
    } catch (error) {
      if (archive !== undefined) closeSync(archive);
      throw error;
    }
    const plan = { argv: ['/bin/sh', '-c', script], cwd: '/', env: ENV, channel: false, stdin: false, lent };
    const child = await starter.start({ ...plan, ...(owner && { user: owner }) });
    const disarm = clock.after(TAR_MS, () => child.kill());
    child.stdout.resume();
    const said = text(child.stderr).catch(() => '');
    const exit = await child.exited;
    disarm();
    return { ...exit, said: (await said).trim().slice(0, MAX_SAID) };
  }
}
