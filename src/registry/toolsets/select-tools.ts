// Which functions a toolset holds, and which words of its selections name none.
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { globMatcher } from '../../lib/text/glob.ts';
import type { Selection, ToolsetDefinition } from './toolset-definition.ts';

export interface Selected {
  readonly functions: readonly ToolFunction[];
  readonly unknown: readonly { readonly path: readonly string[]; readonly message: string }[];
}

/** Functions that are looked at before everything else gets its turn. */
const AT_ONCE = 50;

export function* selectTools(
  { include, exclude }: Pick<ToolsetDefinition, 'include' | 'exclude'>,
  functions: readonly ToolFunction[],
): Generator<void, Selected> {
  const wanted = include === undefined ? undefined : new Matcher(include);
  const unwanted = exclude === undefined ? undefined : new Matcher(exclude);
  const selected: ToolFunction[] = [];
  for (const [at, fn] of functions.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) yield;
    // The deprecated form would take arguments that the actions do not, and what is internal is called by other tools alone.
    if (fn.byAction !== undefined || fn.spec.metadata.internal === true) continue;
    const isWanted = wanted?.matches(fn) ?? true;
    const isOut = unwanted?.matches(fn) ?? false;
    if (isWanted && !isOut) selected.push(fn);
  }
  return {
    functions: selected,
    unknown: [...(wanted?.unmatched('include') ?? []), ...(unwanted?.unmatched('exclude') ?? [])],
  };
}

interface Word {
  readonly path: 'tools' | 'tags' | 'categories';
  readonly word: string;
  readonly matches: (fn: ToolFunction) => boolean;
  matched: boolean;
}

class Matcher {
  readonly #words: readonly Word[];

  constructor({ tools = [], tags = [], categories = [] }: Selection) {
    this.#words = [
      ...tools.map((word) => {
        const named = globMatcher([word]);
        return wordOf('tools', word, ({ name, spec }) => named(name) || named(spec.name));
      }),
      ...tags.map((word) => wordOf('tags', word, ({ spec }) => spec.metadata.tags.includes(word))),
      ...categories.map((word) => wordOf('categories', word, ({ spec }) => spec.metadata.category === word)),
    ];
  }

  /** Asks every word, so that each that names a tool is known to. */
  matches(fn: ToolFunction): boolean {
    let any = false;
    for (const each of this.#words) {
      if (!each.matches(fn)) continue;
      each.matched = true;
      any = true;
    }
    return any;
  }

  unmatched(selection: string) {
    return this.#words
      .filter(({ matched }) => !matched)
      .map(({ path, word }) => ({ path: [selection, path], message: `no tool is meant by "${word}" now` }));
  }
}

function wordOf(path: Word['path'], word: string, matches: Word['matches']): Word {
  return { path, word, matches, matched: false };
}
