// The tools of a folder that an operator has confirmed, each as it was then: what is new or changed waits, and is not run.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { LoadedTools, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import { reasonOf } from '../../lib/text/read-text.ts';
import type { DefinitionRecord, TrustedDefinitions } from '../../ports/registry/trusted-definitions.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import { declarationOf, droppedTools } from './dropped-tools.ts';

export interface ConfirmedNeeds {
  readonly trustedDefinitions: TrustedDefinitions;
  readonly log: Log;
}

export class ConfirmedTools {
  readonly #root: string;
  readonly #server: string;
  readonly #needs: ConfirmedNeeds;
  #told = new Map<string, string>();
  #unread = 0;

  /** `server`: under which name what was confirmed is kept. */
  constructor(root: string, server: string, needs: ConfirmedNeeds) {
    this.#root = root;
    this.#server = server;
    this.#needs = needs;
  }

  async load(): Promise<LoadedTools> {
    let dropped;
    try {
      dropped = await droppedTools(this.#root, await this.#confirmed());
    } catch (error) {
      const message = `${reasonOf(error)}; expected the folder that tools are dropped into`;
      return { tools: [], connections: [], problems: [{ file: this.#root, message }] };
    }
    // Never by themselves, also not at the first sight of the folder.
    const listing = { server: this.#server, definitions: dropped.found, pinFirst: false };
    const records = await this.#needs.trustedDefinitions.record(listing);
    this.#tell(records);
    this.#tellUnread(dropped.unread);
    return { tools: records.flatMap((record) => this.#toolOf(record)), connections: [], problems: [] };
  }

  /** One that was changed stays as it was confirmed; one whose files are gone is gone. */
  #toolOf({ tool, remoteName, state, pinned }: DefinitionRecord): readonly RawDeclaration[] {
    if (pinned === undefined || state === 'gone') return [];
    const value = declarationOf(tool, pinned.definition);
    const folder = join(this.#root, remoteName);
    return [
      {
        value,
        contentHash: hash('sha256', JSON.stringify(value)),
        baseDir: folder,
        dispensable: true,
        locate: (path) => ({
          file: join(folder, path[0] === 'implementation_config' ? 'handler.py' : 'schema.json'),
        }),
      },
    ];
  }

  async #confirmed(): Promise<ReadonlySet<string>> {
    const records = await this.#needs.trustedDefinitions.list();
    const own = records.filter(({ server, pinned }) => server === this.#server && pinned !== undefined);
    return new Set(own.map(({ remoteName }) => remoteName));
  }

  #tellUnread(unread: number): void {
    if (unread > 0 && unread !== this.#unread)
      this.#needs.log.warn(
        { folder: this.#root, unread },
        'more tools were dropped than are read: take some of their folders away',
      );
    this.#unread = unread;
  }

  #tell(records: readonly DefinitionRecord[]): void {
    const now = new Map<string, string>();
    for (const { tool, state, seen } of records) {
      if (state === 'pinned') continue;
      const what = JSON.stringify([state, seen && ('refused' in seen ? seen.refused : seen.hash)]);
      now.set(tool, what);
      if (this.#told.get(tool) === what) continue;
      const refused = seen !== undefined && 'refused' in seen ? { refused: seen.refused } : {};
      const hashes = seen !== undefined && 'hash' in seen ? { hash: seen.hash } : {};
      this.#needs.log.warn({ tool, state, ...refused, ...hashes }, WORDS[state]);
    }
    this.#told = now;
  }
}

const WORDS = {
  new: 'a tool was dropped and is not served: confirm its definition with POST /v1/admin/definitions/{name}/approve',
  changed: 'a dropped tool was changed: it is served as it was confirmed, until its new definition is',
  gone: 'the files of a dropped tool are gone: it is not served any more',
} as const;
