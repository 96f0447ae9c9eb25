// FileKeys: a folder under data_dir with a file for each key. The first is made at the first start; the last name is the current one.
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes, randomUUID } from 'node:crypto';
import { toolFailure } from '../../contract/call/failure.ts';
import { KEY_BYTES } from '../../lib/secrets/sealed-text.ts';
import type { Clock } from '../../ports/clock.ts';
import { KeyRing, type LocalKeys } from './key-ring.ts';

export const SECRET_KEYS_FOLDER = 'secret-keys';

const FILE = /^(k\d{6})\.key$/;
/** Whoever keeps asking for a key that is not there does not have the folder read each time. */
const LOOK_AGAIN_MS = 1_000;

export class FileKeys extends KeyRing {
  readonly kind = 'file';
  readonly #folder: string;
  readonly #clock: Pick<Clock, 'now'>;
  #known: LocalKeys;
  #lookedAt: number;

  /** Makes the first key where there is none. Throws Error with the file that cannot be used. */
  constructor(dataDir: string, clock: Pick<Clock, 'now'>) {
    super();
    this.#folder = join(dataDir, SECRET_KEYS_FOLDER);
    this.#clock = clock;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#known = readKeys(this.#folder);
    if (this.#known.size === 0) {
      // Of two processes that start at once, both read what one of them has made.
      makeKey(this.#folder, keyName(1));
      this.#known = readKeys(this.#folder);
    }
    this.#lookedAt = clock.now();
  }

  /** Another replica with the same folder may have made one since. */
  protected keys(wantedId?: string): LocalKeys {
    const isKnown = wantedId !== undefined && this.#known.has(wantedId);
    const now = this.#clock.now();
    if (isKnown || now - this.#lookedAt < LOOK_AGAIN_MS) return this.#known;
    this.#lookedAt = now;
    try {
      const found = readKeys(this.#folder);
      if (found.size > 0) this.#known = found;
    } catch {
      // A folder that is away, or a file that is broken, takes no key from a process that has it.
    }
    return this.#known;
  }

  async rotate(): Promise<string> {
    const [current = keyName(0)] = this.#readAll().keys();
    const next = keyName(Number(current.slice(1)) + 1);
    if (!makeKey(this.#folder, next))
      throw toolFailure(
        'VERSION_CONFLICT',
        'Another gateway has made a new key at this moment: look at the keys again.',
      );
    this.#known = this.#readAll();
    return next;
  }

  /** A new key beside one that is broken would hide for how many secrets there is none. */
  #readAll(): LocalKeys {
    try {
      return readKeys(this.#folder);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw toolFailure('SECRETS_KEY_MISSING', message, { retryable: false, cause: error });
    }
  }
}

function keyName(number: number): string {
  return `k${String(number).padStart(6, '0')}`;
}

/** Whole or not at all, and never in the place of another one. False: there is one of this name. */
function makeKey(folder: string, name: string): boolean {
  const draft = join(folder, `.${randomUUID()}`);
  writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, join(folder, `${name}.key`));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readKeys(folder: string): LocalKeys {
  const names = readdirSync(folder).flatMap((file) => FILE.exec(file)?.[1] ?? []);
  return new Map(
    names
      .toSorted()
      .toReversed()
      .map((name) => [name, readKey(join(folder, `${name}.key`))]),
  );
}

function readKey(path: string): Buffer {
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new Error(
    `${path} cannot be used: it must hold 32 bytes in base64. Secrets of agents are encrypted with it: bring back a copy.`,
  );
}
