// SessionTools: which version of a tool is a session's: the one that was in force when it was declared.
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ToolSet } from '../contract/tool/tool-set.ts';
import type { ToolSpec } from '../contract/tool/tool-spec.ts';
import type { SessionRecord, SessionStore, ToolHashes } from '../ports/sessions/session-store.ts';
import { toolGone } from './session-failures.ts';

/** Sets of tools that sessions may still be in. */
const MOST_SETS = 64;

export class SessionTools {
  readonly #store: Pick<SessionStore, 'toolsOf'>;
  readonly #sets = new LRUCache<string, ToolHashes>({ max: MOST_SETS });
  readonly #reading = new Map<string, Promise<ToolHashes>>();

  constructor(store: Pick<SessionStore, 'toolsOf'>) {
    this.#store = store;
  }

  /**
   * What a call is held to, as in context.tool_version; undefined: the version in force is the session's. At once, where that is
   * known. Throws ToolFailure NOT_FOUND (VERSION_GONE), or rejects with it.
   */
  pinOf(
    session: SessionRecord,
    inForce: ToolSet,
    spec: ToolSpec,
  ): string | undefined | Promise<string | undefined> {
    const isSame = session.registryHash === inForce.contentHash;
    if (isSame && session.registryVersion === inForce.version) return undefined;
    const known = this.#sets.get(session.registryHash);
    if (known !== undefined) return pinAmong(known, inForce, spec);
    return this.#read(session.registryHash).then((tools) => pinAmong(tools, inForce, spec));
  }

  #read(hash: string): Promise<ToolHashes> {
    const running = this.#reading.get(hash);
    if (running !== undefined) return running;
    const reading = this.#store
      .toolsOf(hash)
      .then((tools) => {
        if (tools === undefined)
          throw toolGone('The tools that this session was declared with are not known any more.');
        this.#sets.set(hash, tools);
        return tools;
      })
      .finally(() => this.#reading.delete(hash));
    this.#reading.set(hash, reading);
    return reading;
  }
}

/** What a session begins with: the tools in force, and in place of some the versions that are `assigned`. */
export function heldBy(
  { specs, contentHash }: Pick<ToolSet, 'specs' | 'contentHash'>,
  assigned: ToolHashes,
): { readonly tools: ToolHashes; readonly registryHash: string } {
  const tools = new Map(specs.map((spec) => [spec.name, assigned.get(spec.name) ?? spec.contentHash]));
  const isInForce = specs.every((spec) => tools.get(spec.name) === spec.contentHash);
  if (isInForce) return { tools, registryHash: contentHash };
  const lines = [...tools].map((each) => each.join(' ')).toSorted();
  return { tools, registryHash: hash('sha256', ['assigned', ...lines].join('\n')) };
}

function pinAmong(
  tools: ToolHashes,
  inForce: ToolSet,
  { name, contentHash, canary }: ToolSpec,
): string | undefined {
  const pin = tools.get(name);
  if (pin === undefined) throw toolGone('This tool came into force after the session was declared.');
  if (pin !== contentHash) return pin;
  // The tool itself is as it was: so is the one on trial in its place, or it has no trial.
  const trial = canary && inForce.specs.find((each) => each.name === canary.tool);
  return trial !== undefined && tools.get(trial.name) !== trial.contentHash ? pin : undefined;
}
