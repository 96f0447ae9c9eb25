// What an operator is told of a server's definitions: once each, not at every load.
import type { DefinitionRecord, DefinitionState } from '../../ports/registry/trusted-definitions.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { LeftOut } from './read-listing.ts';
import type { Screened } from './screen-definition.ts';

/** Further ones are counted. */
const MOST_LINES = 100;

const WORDS: { readonly [S in DefinitionState]: string } = {
  pinned: 'a tool is as it was approved',
  changed: 'a tool is not what was approved: its calls are refused until an operator approves it',
  new: 'a tool is new: it is off until an operator approves it',
  gone: 'a tool is not offered any more',
};

const UNUSED = 'an entry of overrides fits no tool: check its name';

export class Reporter {
  readonly #log: Log;
  readonly #screened = new Map<string, string>();
  #told = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  listing(
    leftOut: readonly LeftOut[],
    records: readonly DefinitionRecord[],
    unusedOverrides: readonly string[] = [],
  ): void {
    const lines = [
      ...unusedOverrides.map((tool) => ({ tool, reason: 'the server lists no such tool', words: UNUSED })),
      ...leftOut.map(({ tool, reason }) => ({ tool, reason, words: 'a tool of an MCP server was left out' })),
      ...records.flatMap(({ tool, state, seen }) => {
        const reason = seen === undefined ? undefined : 'refused' in seen ? seen.refused : seen.hash;
        return state === 'pinned' ? [] : [{ tool, reason, words: WORDS[state] }];
      }),
    ];
    const keys = lines.map((line) => JSON.stringify(line));
    const fresh = lines.filter((_, index) => !this.#told.has(keys[index] ?? ''));
    for (const { words, ...fields } of fresh.slice(0, MOST_LINES)) this.#log.warn(fields, words);
    this.#told = new Set(keys);
    const counts = { listed: records.length, left_out: leftOut.length, attention: lines.length };
    this.#log[fresh.length > 0 ? 'warn' : 'debug'](counts, 'list of an MCP server read');
  }

  /** Refused: agreed to by an older version of the gateway, and not fit for this one. */
  screened({ tool, pinned }: DefinitionRecord, screened: Screened): void {
    const key = `${tool} ${pinned?.hash}`;
    if (this.#screened.get(tool) === key) return;
    this.#screened.set(tool, key);
    if ('refused' in screened)
      this.#log.warn({ tool, reason: screened.refused }, 'a tool of an MCP server was left out');
    else if (screened.removed > 0 || screened.cut > 0) {
      const fields = { tool, hidden_characters: screened.removed, cut_texts: screened.cut };
      this.#log.warn(fields, 'hidden characters were removed from the texts of a tool of an MCP server');
    }
  }
}
