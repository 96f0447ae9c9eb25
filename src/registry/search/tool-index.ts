// ToolIndex: one set of tools, to be searched by what people say. Built in slices; a search looks up the words that few tools have, and weighs what
// it finds by the others.
import MiniSearch, { type MatchInfo } from 'minisearch';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { ALL_FIELDS, entryOf, NAMING_FIELDS, WEIGHTS, type Entry } from './tool-entry.ts';
import { relatedTerms } from './synonyms.ts';
import { termOf, termsOf, wordsOf } from './tool-words.ts';

/** How much of a score depends on how much of the name was asked for. */
const NAME_SHARE = 0.6;
/** What a word counts that the question does not have and may mean. */
const RELATED_WEIGHT = 0.45;
/** What a word counts that begins as one of the question: `assignees`, where somebody wants to assign. */
const BEGINNING_WEIGHT = 0.6;
const LEAST_BEGINNING = 4;
/** Of a question: more words than these are a text, and no question. */
const MOST_WORDS = 32;
/** The share of tools that may be named by a word that is looked up. */
const MOST_NAMED = 0.08;
/** Of what was looked up: the rest is weighed no more. */
const MOST_WEIGHED = 1_000;
/** Terms are what they are to be by then. */
const PLAIN = {
  combineWith: 'OR',
  tokenize: (text: string) => [text],
  processTerm: (term: string) => term,
  weights: { prefix: BEGINNING_WEIGHT, fuzzy: 0 },
} as const;

/** What a tool is named by. */
interface Naming {
  readonly name: readonly string[];
  readonly summary: readonly string[];
  readonly parameters: readonly string[];
}

const UNNAMED: Naming = { name: [], summary: [], parameters: [] };

/** A tool that was found by terms that were looked up. */
interface Found {
  readonly id: number;
  score: number;
  terms: number;
  readonly match: MatchInfo;
}

interface Question {
  readonly said: ReadonlySet<string>;
  /** Of those that were not looked up, what each counts. */
  readonly others: ReadonlyMap<string, number>;
}

export class ToolIndex {
  readonly #functions: readonly ToolFunction[];
  readonly #namings: Naming[] = [];
  /** How many tools are named by a term. */
  readonly #counts = new Map<string, number>();
  readonly #index = new MiniSearch<Entry>({ fields: ALL_FIELDS, tokenize: wordsOf, processTerm: termOf });

  private constructor(functions: readonly ToolFunction[]) {
    this.#functions = functions;
  }

  /** Yields after each tool. */
  static *of(functions: readonly ToolFunction[]): Generator<void, ToolIndex> {
    const index = new ToolIndex(functions);
    for (const [id, fn] of functions.entries()) {
      index.#add(entryOf(id, fn));
      yield;
    }
    return index;
  }

  /** The best first, those alone that `may` lets through, which is asked of no more of them than it takes. Yields after each term. */
  *search(
    query: string,
    limit: number,
    may: (fn: ToolFunction) => boolean,
  ): Generator<void, readonly ToolFunction[]> {
    const words = [...new Set(wordsOf(query))].slice(0, MOST_WORDS);
    const said = new Set(words.flatMap((word) => termOf(word) ?? []));
    const meant = new Set(words.flatMap(relatedTerms).filter((term) => !said.has(term)));
    const lookedUp = this.#lookedUp(said.size > 0 ? said : meant);
    if (lookedUp.length === 0) return [];
    const ranked = yield* this.#ranked(lookedUp);
    const others = new Map<string, number>([
      ...[...meant].map((term) => [term, RELATED_WEIGHT] as const),
      ...[...said].map((term) => [term, 1] as const),
    ]);
    for (const term of lookedUp) others.delete(term);
    const found: ToolFunction[] = [];
    for (const { id } of this.#weighed(ranked, { said, others })) {
      const fn = this.#functions[id];
      if (fn === undefined || !may(fn)) continue;
      found.push(fn);
      if (found.length === limit) break;
    }
    return found;
  }

  #add(entry: Entry): void {
    this.#index.add(entry);
    const once = (text: string) => [...new Set(termsOf(text))];
    const naming = {
      name: once(entry.name),
      summary: once(entry.summary),
      parameters: once(entry.parameters),
    };
    this.#namings.push(naming);
    for (const term of new Set([...naming.name, ...naming.summary]))
      this.#counts.set(term, (this.#counts.get(term) ?? 0) + 1);
  }

  /** What many tools have tells them apart by the others of the question; where there are none, the rarest is all there is. */
  #lookedUp(terms: ReadonlySet<string>): readonly string[] {
    const byCount = [...terms].toSorted((a, b) => this.#countOf(a) - this.#countOf(b));
    const most = Math.max(20, MOST_NAMED * this.#functions.length);
    const rare = byCount.filter((term) => this.#countOf(term) <= most);
    return rare.some((term) => this.#countOf(term) > 0) ? rare : byCount.slice(0, rare.length + 1);
  }

  /** As one search for all of them would have it, which many tools and many words that begin so would make long. */
  *#ranked(terms: readonly string[]): Generator<void, readonly Found[]> {
    const all = new Map<number, Found>();
    for (const term of terms) {
      for (const { id, score, match } of this.#index.search(this.#queryOf(term), PLAIN)) {
        const known = all.get(Number(id));
        if (known === undefined) all.set(Number(id), { id: Number(id), score, terms: 1, match });
        else {
          known.score += score;
          known.terms += 1;
          Object.assign(known.match, match);
        }
      }
      yield;
    }
    const ranked = [...all.values()].sort((a, b) => b.score * b.terms - a.score * a.terms || a.id - b.id);
    yield;
    return ranked;
  }

  /** A word that tools are named by is looked for there: in documentation it stands everywhere. */
  #queryOf(term: string) {
    const fields = this.#counts.has(term) ? NAMING_FIELDS : ALL_FIELDS;
    return { queries: [term], fields, boost: WEIGHTS, prefix: term.length >= LEAST_BEGINNING };
  }

  #countOf(term: string): number {
    return this.#counts.get(term) ?? 0;
  }

  /** As BM25 has it: what few tools have says more. */
  #rarity(term: string): number {
    const count = this.#countOf(term);
    return Math.log(1 + (this.#functions.length - count + 0.5) / (count + 0.5));
  }

  /** Those first of which most of the name was asked for: of a tool that is called much more, something else is meant. */
  #weighed(ranked: readonly Found[], question: Question): readonly Weighed[] {
    const others = [...question.others].map(([term, weight]) => ({
      term,
      weight,
      worth: weight * this.#rarity(term),
    }));
    const weighed = ranked.slice(0, MOST_WEIGHED).map(({ id, score, terms, match }): Weighed => {
      const naming = this.#namings[id] ?? UNNAMED;
      let sum = score;
      let quality = terms;
      let named = 0;
      for (const term in match) if (match[term]?.includes('name') === true) named += 1;
      for (const { term, weight, worth } of others) {
        const inName = naming.name.includes(term);
        const inSummary = naming.summary.includes(term);
        const inParameters = naming.parameters.includes(term);
        if (!inName && !inSummary && !inParameters) continue;
        sum +=
          worth *
          ((inName ? WEIGHTS.name : 0) +
            (inSummary ? WEIGHTS.summary : 0) +
            (inParameters ? WEIGHTS.parameters : 0));
        quality += weight;
        if (inName) named += 1;
      }
      const share = named / Math.max(1, naming.name.length);
      return { id, score: sum * quality * (1 - NAME_SHARE + NAME_SHARE * share) };
    });
    return weighed.sort((a, b) => b.score - a.score || a.id - b.id);
  }
}

interface Weighed {
  readonly id: number;
  readonly score: number;
}
